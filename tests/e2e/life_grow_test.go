package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

func (l *life) grow(t *testing.T, c *cluster.Cluster) {
	long := c.Submit(t, "alice", "-J long -w gpu1 --gres=gpu:2 -t 2:00:00", "sleep 7200")
	c.WaitRunning(t, long)
	c.Edit(t,
		"names: gpu[1-2] # all", "names: gpu[1-4] # all",
		"hosts: gpu1 # under leaf1", "hosts: gpu[1,3] # under leaf1",
		"hosts: gpu2 # under leaf2", "hosts: gpu[2,4] # under leaf2",
		"hosts: gpu[1-2] # of train", "hosts: gpu[1-4] # of train",
	)
	before := daemons(t, c)
	running := c.StartUp(t)
	early := submitEarly(t, c, running, "gpu3", "gpu4")
	run := running.Wait(t)
	if run.Err != nil {
		t.Fatalf("up: %v\n%s", run.Err, run.Trouble())
	}
	wantChanges(t, run,
		"create gpu3-host", "create gpu3-baseline", "create gpu3-home", "create gpu3",
		"create gpu4-host", "create gpu4-baseline", "create gpu4-home", "create gpu4",
		"update controller", "update gate")
	if after := daemons(t, c); after != before {
		t.Errorf("daemons were restarted:\n%s\nbefore:\n%s", after, before)
	}
	longJob(t, c)
	for host, id := range early {
		c.WaitJob(t, id, 2*time.Minute, "COMPLETED")
		firstIsOurs(t, c, host, id)
	}
}

// submitEarly submits a job to each new host as soon as slurmctld knows it.
func submitEarly(t *testing.T, c *cluster.Cluster, running *cluster.Running, hosts ...string) map[string]string {
	t.Helper()
	early := map[string]string{}
	cluster.Until(t, "slurmctld to know the new hosts", 10*time.Minute, func() error {
		for _, host := range hosts {
			if early[host] != "" {
				continue
			}
			id, err := c.TrySubmit(t, "alice", "-w "+host+" --gres=gpu:8 -p train", "hostname")
			if err != nil {
				if running.Ended() {
					return nil
				}
				return err
			}
			early[host] = id
		}
		return nil
	})
	if len(early) < len(hosts) {
		t.Errorf("up ended before each of %v took a job: %v", hosts, early)
	}
	return early
}

// firstIsOurs checks that the first job on a host was root's, and that the
// user's began when that had ended. The records know seconds.
func firstIsOurs(t *testing.T, c *cluster.Cluster, host, id string) {
	t.Helper()
	var ours, theirs []string
	cluster.Until(t, "the records of the jobs on "+host, cluster.RecordsArrive, func() error {
		out := c.Slurm(t, "SLURM_TIME_FORMAT=%s sacct -X -n -P -a -S now-1days -o Start,End,User,State,JobIDRaw,NodeList")
		ours, theirs = nil, nil
		for line := range strings.Lines(out) {
			record := strings.Split(strings.TrimSpace(line), "|")
			if record[5] != host {
				continue
			}
			if record[2] == "root" && (ours == nil || record[0] < ours[0]) {
				ours = record
			}
			if record[2] != "root" && (theirs == nil || record[0] < theirs[0]) {
				theirs = record
			}
		}
		if ours == nil || theirs == nil {
			return fmt.Errorf("sacct lists\n%s", out)
		}
		return nil
	})
	if ours[3] != "COMPLETED" || theirs[4] != id || theirs[0] < ours[1] {
		t.Errorf("%s did not take its first job only after ours had ended: %v, then %v", host, ours, theirs)
	}
}

func (l *life) shrink(t *testing.T, c *cluster.Cluster) {
	c.Edit(t,
		"names: gpu[1-4] # all", "names: gpu[1-3] # all",
		"hosts: gpu[2,4] # under leaf2", "hosts: gpu2 # under leaf2",
		"hosts: gpu[1-4] # of train", "hosts: gpu[1-3] # of train",
	)
	// A clone that never ran up removes a host as well as the one that made it.
	first := c.Checkout
	c.Checkout = first.CloneWithTools(t)
	run := upUnderJob(t, c, "gpu4")
	c.Checkout = first
	wantChanges(t, run,
		"delete gpu4-host", "delete gpu4-baseline", "delete gpu4-home", "delete gpu4",
		"update controller", "update gate")
	gone(t, c, "gpu4")
	longJob(t, c)
}

// upUnderJob runs an up that needs a host free while a job runs there. The job
// ends by itself once the host is drained, and no sooner.
func upUnderJob(t *testing.T, c *cluster.Cluster, host string) cluster.Run {
	t.Helper()
	job := c.SubmitOpen(t, "bob", "-w "+host+" --gres=gpu:1 -t 30")
	c.WaitRunning(t, job)
	running := c.StartUp(t)
	cluster.Until(t, host+" to be drained", 10*time.Minute, func() error {
		node := c.Node(t, host)
		if strings.HasPrefix(node, "draining gpucluster: ") || running.Ended() {
			return nil
		}
		return errors.New(node)
	})
	if running.Ended() {
		t.Errorf("up ended although a job ran on %s", host)
	}
	c.WaitRunning(t, job)
	c.EndJob(t, "bob", job)
	run := running.Wait(t)
	if run.Err != nil {
		t.Fatalf("up: %v\n%s", run.Err, run.Trouble())
	}
	ended := c.WaitJob(t, job, time.Minute, "COMPLETED", "NODE_FAIL", "FAILED", "CANCELLED")
	if ended.State != "COMPLETED" || ended.Nodes != host {
		t.Errorf("the job on %s ended as %+v", host, ended)
	}
	return run
}

// gone checks that neither Slurm nor the machine has the host any more.
func gone(t *testing.T, c *cluster.Cluster, host string) {
	t.Helper()
	if out := c.Slurm(t, "sinfo -h -N -n "+host); out != "" {
		t.Errorf("Slurm still has %s: %s", host, out)
	}
	if out := c.Docker(t, "ps", "-aq", "--filter", "name=^"+c.Container(host)+"$"); out != "" {
		t.Errorf("the container of %s is still there: %s", host, out)
	}
}

// longJob checks that the job that goes on through the changes still runs, and
// returns its id.
func longJob(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	fields := strings.Fields(c.Slurm(t, "squeue -h -n long -o '%i %T %N %r'"))
	if len(fields) < 3 || fields[1] != "RUNNING" || fields[2] != "gpu1" {
		t.Fatalf("of the long job squeue says %q, want it to run on gpu1", fields)
	}
	return fields[0]
}
