package slurmctl

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// RetiringPath lists, on the controller, the partitions that a run keeps from
// new jobs, a line "name state" each, with the state that they had. A run that
// is killed cannot put them back; the next one does.
const RetiringPath = "/var/lib/gpucluster/partitions-retiring"

// retired maps the states of a partition in which it takes jobs to those in
// which it takes no new one but starts what waits, where it did so before.
var retired = map[string]string{"UP": "DRAIN", "DOWN": "INACTIVE"}

// Retire keeps new jobs from partitions. What runs or waits in them goes on.
// Partitions that slurmctld does not know are left out.
func (c *Client) Retire(ctx context.Context, names []string) error {
	all, err := c.Partitions(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		next, takesJobs := retired[p.State]
		if !takesJobs || !slices.Contains(names, p.Name) {
			continue
		}
		note := "set -e\nmkdir -p " + path.Dir(RetiringPath) + "\ncat >>" + RetiringPath + "\nsync " + RetiringPath + "\n"
		if _, err := c.Runner.Run(ctx, note, []byte(p.Name+" "+p.State+"\n")); err != nil {
			return fmt.Errorf("noting that partition %s goes: %w", p.Name, err)
		}
		if err := c.setPartition(ctx, p.Name, next); err != nil {
			return err
		}
	}
	return nil
}

// Reinstate puts back the state of the partitions that [Client.Retire] closed
// and that are still there, except those that are to stay closed.
func (c *Client) Reinstate(ctx context.Context, except ...string) error {
	noted, err := c.retiring(ctx)
	if err != nil {
		return err
	}
	noted = slices.DeleteFunc(noted, func(r retiring) bool { return slices.Contains(except, r.partition) })
	if len(noted) == 0 {
		return nil
	}
	all, err := c.Partitions(ctx)
	if err != nil {
		return err
	}
	state := map[string]string{}
	for _, p := range all {
		state[p.Name] = p.State
	}
	for _, r := range noted {
		name := r.partition
		if now, there := state[name]; there && now == retired[r.before] {
			if err := c.setPartition(ctx, name, r.before); err != nil {
				return err
			}
			c.say("partition %s is %s again", name, r.before)
		}
		forget := "sed -i " + shell.Quote("/^"+name+" /d") + " " + RetiringPath + " && find " + RetiringPath + " -empty -delete"
		if _, err := c.Runner.Run(ctx, forget, nil); err != nil {
			return fmt.Errorf("forgetting that partition %s was to go: %w", name, err)
		}
	}
	return nil
}

// Retiring lists the partitions that [Client.Retire] closed and nobody has put
// back: outside of a run, one that was killed left them.
func (c *Client) Retiring(ctx context.Context) ([]string, error) {
	noted, err := c.retiring(ctx)
	var names []string
	for _, r := range noted {
		names = append(names, r.partition)
	}
	return names, err
}

// retiring is a partition and the state that it had before.
type retiring struct{ partition, before string }

func (c *Client) retiring(ctx context.Context) ([]retiring, error) {
	out, err := c.Runner.Run(ctx, "cat "+RetiringPath+" 2>/dev/null || true", nil)
	if err != nil {
		return nil, fmt.Errorf("reading which partitions were to go: %w", err)
	}
	var noted []retiring
	for _, line := range lines(string(out)) {
		name, before, _ := strings.Cut(line, " ")
		noted = append(noted, retiring{name, before})
	}
	return noted, nil
}

func (c *Client) setPartition(ctx context.Context, name, state string) error {
	if _, err := c.output(ctx, "scontrol", "update", "PartitionName="+name, "State="+state); err != nil {
		return fmt.Errorf("making partition %s %s: %w", name, state, err)
	}
	return nil
}

// StillQueued says that jobs were left in partitions that go when the time to
// wait was over. The partitions take jobs again; nothing has changed.
type StillQueued struct {
	// Waited is how long.
	Waited time.Duration
	// Partitions that were waited for.
	Partitions []string
	// Jobs that are left, by id: they run or wait.
	Jobs []Job
}

func (e *StillQueued) Error() string {
	what := make([]string, len(e.Jobs))
	for i, j := range e.Jobs {
		what[i] = j.Describe()
	}
	return fmt.Sprintf("partition %s still has jobs after %s: %s", strings.Join(e.Partitions, ", "), e.Waited, strings.Join(what, "; "))
}

// Choices are the ways on, each one a sentence for a person.
func (e *StillQueued) Choices() []string {
	return []string{
		"wait on: run again, with a longer drainDeadline",
		"move jobs that wait to another partition: " + updateJobs(e.Jobs, "partition=..."),
		"cancel the jobs: scancel " + strings.Join(IDs(e.Jobs), " "),
		"keep the partition: put " + strings.Join(e.Partitions, ", ") + " back into the environment file as it was",
	}
}

// WaitEmpty waits until no job runs or waits in the partitions; a job that
// names several waits in each of them. After limit it gives up with a
// [*StillQueued].
func (c *Client) WaitEmpty(ctx context.Context, partitions []string, limit time.Duration) error {
	until := time.Now().Add(limit)
	said := ""
	for wait := c.pauses(); ; {
		all, err := c.Jobs(ctx)
		if err != nil {
			return fmt.Errorf("waiting for the jobs of partition %s: %w", strings.Join(partitions, ", "), err)
		}
		left := filterJobs(all, func(j Job) bool { return overlap(strings.Split(j.Partition, ","), partitions) })
		if len(left) == 0 {
			return nil
		}
		if time.Now().After(until) {
			return &StillQueued{Waited: limit, Partitions: partitions, Jobs: left}
		}
		if now := strings.Join(IDs(left), ","); now != said {
			c.say("waiting for the jobs of partition %s (jobs: %s), at most until %s", strings.Join(partitions, ", "), now, until.Format(time.TimeOnly))
			said = now
		}
		if err := wait(ctx); err != nil {
			return fmt.Errorf("waiting for the jobs of partition %s: %w", strings.Join(partitions, ", "), err)
		}
	}
}

// empty frees the partitions that go of jobs: slurmctld would fail them.
func (a *activation) empty(ctx context.Context) error {
	if len(a.spec.Empty) == 0 || a.fresh {
		return nil
	}
	a.retired = true
	if err := a.Retire(ctx, a.spec.Empty); err != nil {
		return err
	}
	return a.WaitEmpty(ctx, a.spec.Empty, a.deadline())
}
