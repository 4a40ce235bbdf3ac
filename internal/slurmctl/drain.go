package slurmctl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// ReasonPrefix begins the reason of every drain that is ours. Slurm appends
// to reasons, so they are compared by their beginning.
const ReasonPrefix = "gpucluster: "

// The reasons for which this package drains.
const (
	// ReasonLeave drains hosts that are about to be removed.
	ReasonLeave = ReasonPrefix + "leaving"
	// ReasonReshape drains hosts whose hardware description changes. It stays
	// until their slurmd runs with the new one.
	ReasonReshape = ReasonPrefix + "reshape"
	// ReasonQuarantine, followed by why, drains hosts that failed a check.
	ReasonQuarantine = ReasonPrefix + "quarantined: "
)

// beforeMark separates our reason from the one that stood there before.
const beforeMark = "; before: "

// Drained is what became of a request to drain.
type Drained struct {
	// Ours are the nodes that this reason drains, also from an earlier run.
	Ours []string
	// Kept maps the nodes that were drained already for another reason to
	// that reason. They are left alone.
	Kept map[string]string
}

// Drain keeps new jobs from the nodes, for a reason that begins with
// [ReasonPrefix]. A drain that is there already, by somebody else or by us for
// another reason, is kept as it is; the reason of a node that is down is
// remembered within ours, and [Client.Undrain] puts it back.
func (c *Client) Drain(ctx context.Context, names []string, reason string) (Drained, error) {
	done := Drained{Kept: map[string]string{}}
	if !strings.HasPrefix(reason, ReasonPrefix) {
		return done, fmt.Errorf("draining: reason %q does not begin with %q", reason, ReasonPrefix)
	}
	nodes, err := c.NodesNamed(ctx, names)
	if err != nil {
		return done, fmt.Errorf("draining: %w", err)
	}
	byReason := map[string][]string{}
	for _, n := range nodes {
		switch {
		case n.State.Has(FlagDrain) && strings.HasPrefix(n.Reason, reason):
			done.Ours = append(done.Ours, n.Name)
		case n.State.Has(FlagDrain):
			done.Kept[n.Name] = n.Reason
		// 24.11 keeps a reason when a drain is lifted, so ours may be left over.
		case n.Reason != "" && n.State.Base == BaseDown && !strings.HasPrefix(n.Reason, ReasonPrefix):
			byReason[reason+beforeMark+n.Reason] = append(byReason[reason+beforeMark+n.Reason], n.Name)
		default:
			byReason[reason] = append(byReason[reason], n.Name)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		if err := c.update(ctx, byReason[why], "State=DRAIN", "Reason="+why); err != nil {
			return done, fmt.Errorf("draining: %w", err)
		}
		done.Ours = append(done.Ours, byReason[why]...)
	}
	hostlist.Sort(done.Ours)
	return done, nil
}

// Undrain lifts the drains whose reason begins with reason, which itself must
// begin with [ReasonPrefix], and puts back the reason that stood there before.
// Other nodes and nodes that slurmctld does not know are left alone. It returns
// the nodes whose drain it lifted.
func (c *Client) Undrain(ctx context.Context, names []string, reason string) ([]string, error) {
	if !strings.HasPrefix(reason, ReasonPrefix) {
		return nil, fmt.Errorf("lifting drains: reason %q does not begin with %q", reason, ReasonPrefix)
	}
	all, err := c.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("lifting drains: %w", err)
	}
	var lift []string
	back := map[string][]string{}
	for _, n := range all {
		if !overlap([]string{n.Name}, names) || !n.State.Has(FlagDrain) || !strings.HasPrefix(n.Reason, reason) {
			continue
		}
		lift = append(lift, n.Name)
		if _, before, ok := strings.Cut(n.Reason, beforeMark); ok {
			back[before] = append(back[before], n.Name)
		}
	}
	if len(lift) == 0 {
		return nil, nil
	}
	if err := c.undrain(ctx, lift); err != nil {
		return nil, fmt.Errorf("lifting drains: %w", err)
	}
	for _, before := range slices.Sorted(maps.Keys(back)) {
		if err := c.update(ctx, back[before], "Reason="+before); err != nil {
			return lift, fmt.Errorf("putting a reason back: %w", err)
		}
	}
	return lift, nil
}

// undrain lifts drains. While slurmctld starts it knows a node's drain before
// it allows to change it, so a refusal is tried again for a while.
func (c *Client) undrain(ctx context.Context, nodes []string) error {
	until := time.Now().Add(20 * time.Second)
	for wait := c.pauses(); ; {
		err := c.update(ctx, nodes, "State=UNDRAIN")
		var failed *shell.ExitError
		if err == nil || !errors.As(err, &failed) || time.Now().After(until) {
			return err
		}
		if wait(ctx) != nil {
			return err
		}
	}
}

// Quarantine drains a node that failed a check, for a reason that says why.
func (c *Client) Quarantine(ctx context.Context, node, why string) error {
	_, err := c.Drain(ctx, []string{node}, ReasonQuarantine+strings.Join(strings.Fields(why), " "))
	return err
}

// update changes nodes by scontrol, many at a time.
func (c *Client) update(ctx context.Context, nodes []string, set ...string) error {
	args := append([]string{"scontrol", "update", "NodeName=" + hostlist.Compress(nodes)}, set...)
	_, err := c.output(ctx, args...)
	return err
}

// StepsCommand, run on a compute host, prints a line for each job step that
// still has a daemon there, and ends with status 0 whether or not there is one.
// The "slurmstepd infinity" that keeps a cgroup alive is no step.
const StepsCommand = `ps -e -o pid=,args= | grep '[s]lurmstepd: \[' || true`

// StillBusy says that jobs were left on nodes when the time to wait was over.
type StillBusy struct {
	// Waited is how long.
	Waited time.Duration
	// Jobs that are left, by id.
	Jobs []Job
	// Nodes that are still busy; they may be so without a job while an epilog runs.
	Nodes []string
}

func (e *StillBusy) Error() string {
	what := make([]string, len(e.Jobs))
	for i, j := range e.Jobs {
		what[i] = j.Describe()
	}
	if len(what) == 0 {
		what = []string{"no job, but not yet idle"}
	}
	return fmt.Sprintf("%s still busy after %s: %s", hostlist.Compress(e.Nodes), e.Waited, strings.Join(what, "; "))
}

// WaitDrained waits until no job is left on the nodes (none in R, CG, S, SO or
// SI) and Slurm holds none of them as busy. After limit it gives up with a
// [*StillBusy].
func (c *Client) WaitDrained(ctx context.Context, names []string, limit time.Duration) error {
	until := time.Now().Add(limit)
	said := ""
	for wait := c.pauses(); ; {
		busy, err := c.busy(ctx, names)
		if err != nil {
			return fmt.Errorf("waiting for %s to drain: %w", hostlist.Compress(names), err)
		}
		if busy == nil {
			return nil
		}
		if time.Now().After(until) {
			busy.Waited = limit
			return busy
		}
		if now := hostlist.Compress(busy.Nodes) + " " + strings.Join(IDs(busy.Jobs), ","); now != said {
			c.say("waiting for %s (jobs: %s), at most until %s", hostlist.Compress(busy.Nodes),
				strings.Join(IDs(busy.Jobs), ","), until.Format(time.TimeOnly))
			said = now
		}
		if err := wait(ctx); err != nil {
			return fmt.Errorf("waiting for %s to drain: %w", hostlist.Compress(names), err)
		}
	}
}

// busy is what keeps the nodes busy now, nil when nothing does.
func (c *Client) busy(ctx context.Context, names []string) (*StillBusy, error) {
	jobs, err := c.JobsOnNodes(ctx, names)
	if err != nil {
		return nil, err
	}
	nodes, err := c.NodesNamed(ctx, names)
	if err != nil {
		return nil, err
	}
	held := map[string]bool{}
	for _, j := range jobs {
		for _, n := range j.Nodes {
			held[n] = true
		}
	}
	b := &StillBusy{Jobs: jobs}
	for _, n := range nodes {
		if held[n.Name] || n.State.Base == "ALLOCATED" || n.State.Base == "MIXED" || n.State.Has(FlagCompleting) {
			b.Nodes = append(b.Nodes, n.Name)
		}
	}
	if len(b.Nodes) == 0 {
		return nil, nil
	}
	return b, nil
}
