package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Controller is the host that the base files make the controller.
const Controller = "ctl1"

// Slurm runs one of Slurm's commands on the controller as root.
func (c *Cluster) Slurm(t testing.TB, command string) string {
	t.Helper()
	return c.On(t, Controller, command)
}

// Submit submits a job as a user with the words that sbatch takes and a command
// for its script, and returns its id. The job is remembered for
// [Cluster.LostJobs].
func (c *Cluster) Submit(t testing.TB, user, words, script string) string {
	t.Helper()
	id, err := c.TrySubmit(t, user, words, script)
	if err != nil {
		t.Fatalf("submitting a job of %s: %v", user, err)
	}
	return id
}

// TrySubmit is Submit that may be refused.
func (c *Cluster) TrySubmit(t testing.TB, user, words, script string) (string, error) {
	t.Helper()
	id, err := c.As(t, Controller, user, "sbatch --parsable "+words+" --wrap "+shell.Quote(script))
	if err != nil {
		return "", err
	}
	id, _, _ = strings.Cut(strings.TrimSpace(id), ";")
	c.jobs = append(c.jobs, id)
	return id, nil
}

// SubmitOpen submits a job that runs until [Cluster.EndJob], however long what
// happens meanwhile takes. The user's home has to be on every host.
func (c *Cluster) SubmitOpen(t testing.TB, user, words string) string {
	t.Helper()
	return c.Submit(t, user, words, "until [ -e $HOME/end-$SLURM_JOB_ID ]; do sleep 1; done")
}

// EndJob lets a job of [Cluster.SubmitOpen] come to its end by itself.
func (c *Cluster) EndJob(t testing.TB, user, id string) {
	t.Helper()
	c.On(t, Controller, "touch /home/"+user+"/end-"+id)
}

// Job is a job as the accounting database has it.
type Job struct {
	ID, State, ExitCode, Nodes, User, Account, QOS string
}

// Record reads a job from the accounting database; ok is false where there is
// no record.
func (c *Cluster) Record(t testing.TB, id string) (job Job, ok bool) {
	t.Helper()
	out := c.Slurm(t, "sacct -X -n -P --duplicates -j "+id+" -o JobID,State,ExitCode,NodeList,User,Account,QOS")
	lines := strings.Split(out, "\n")
	fields := strings.Split(lines[len(lines)-1], "|")
	if len(fields) < 7 {
		return Job{}, false
	}
	return Job{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5], fields[6]}, true
}

// WaitJob waits until the accounting database says that a job is in one of the
// states.
func (c *Cluster) WaitJob(t testing.TB, id string, limit time.Duration, states ...string) Job {
	t.Helper()
	var job Job
	Until(t, "job "+id+" to be "+strings.Join(states, " or "), limit, func() error {
		found, ok := c.Record(t, id)
		if !ok {
			return fmt.Errorf("the database has no job %s", id)
		}
		job = found
		if slices.Contains(states, job.State) {
			return nil
		}
		return fmt.Errorf("it is %s", job.State)
	})
	return job
}

// WaitRunning waits until slurmctld runs a job, and returns where.
func (c *Cluster) WaitRunning(t testing.TB, id string) string {
	t.Helper()
	var nodes string
	Until(t, "job "+id+" to run", 2*time.Minute, func() error {
		out := c.Slurm(t, "squeue -h -j "+id+" -o '%T %N %r'")
		fields := strings.Fields(out)
		if len(fields) < 2 || fields[0] != "RUNNING" {
			return fmt.Errorf("squeue says %q", out)
		}
		nodes = fields[1]
		return nil
	})
	return nodes
}

// RecordsArrive is how long records may take until sacct lists them. slurmctld
// sends the starts of jobs in batches, and again when slurmdbd has been away;
// until then sacct leaves the jobs out of every period of time.
const RecordsArrive = time.Minute

// LostJobs lists the jobs whose submission was acknowledged and that the
// accounting database does not come to know.
func (c *Cluster) LostJobs(t testing.TB) []string {
	t.Helper()
	for end := time.Now().Add(RecordsArrive); ; time.Sleep(time.Second) {
		known := strings.Fields(c.Slurm(t, "sacct -X -n -P -a -S now-1days -o JobIDRaw"))
		var lost []string
		for _, id := range c.jobs {
			if !slices.Contains(known, id) {
				lost = append(lost, id)
			}
		}
		if len(lost) == 0 || time.Now().After(end) {
			return lost
		}
	}
}

// Node is the state of a node and the reason given for it, as sinfo has them.
func (c *Cluster) Node(t testing.TB, name string) string {
	t.Helper()
	return c.Slurm(t, "sinfo -h -N -n "+name+" -o '%T %E' | sort -u")
}

// Starts tells which start of a unit each host is in, in the order of the
// hosts: systemd's invocation id. A restart changes it; a reload does not,
// although the daemons of Slurm 23.11 and later replace their process then.
func (c *Cluster) Starts(t testing.TB, unit string, hosts ...string) []string {
	t.Helper()
	var all []string
	for _, host := range hosts {
		all = append(all, unit+" on "+host+" "+c.On(t, host, "systemctl show -p InvocationID --value "+unit))
	}
	return all
}

// StateSaved waits until slurmctld has surely written down what it has
// accepted: it does so at most five seconds after a change (SAVE_MAX_WAIT in its
// source). A slurmctld that is killed before has lost it, whoever restarts it.
func (c *Cluster) StateSaved() { time.Sleep(2 * 5 * time.Second) }
