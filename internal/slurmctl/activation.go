package slurmctl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Activation brings a new file set into use.
type Activation struct {
	// Files of the controller, slurm.conf among them. Those beside slurm.conf
	// are loaded on trial first.
	Files []File
	// Nodes as the new slurm.conf describes them, all of them.
	Nodes []NodeSpec
	// Applied are the names of the nodes of the last activation that
	// succeeded. They stand in for the live ones when no slurmctld answers;
	// nil means that there was none.
	Applied []string
	// Version is the release line that runs, such as "24.11".
	Version string
	// Restart asks for a restart of slurmctld where a reload is not enough.
	Restart bool
	// Reshape maps nodes that stay to what changes of them, where the live
	// nodes cannot tell: their jobs end first, as with another number of CPUs.
	Reshape map[string][]string
	// Empty are partitions that go: their jobs end first.
	Empty []string
	// State says that slurmctld's StateSaveLocation changes, which needs Restart.
	State StateMove
	// DrainDeadline bounds the wait for the jobs of hosts that leave or change
	// shape and of partitions that go, all together. Default 30 min.
	DrainDeadline time.Duration
	// UpLimit bounds the wait for slurmctld after a reload. Default 2 min.
	UpLimit time.Duration
	// SlurmUser that slurmctld runs as. Default "slurm".
	SlurmUser string
	// Prepare, if given, runs after the trial load and before anything is
	// drained or placed: what the new files refer to is made here, such as the QOS
	// that partitions name.
	Prepare func(ctx context.Context) error
	// SkipTrial skips the trial load, for a controller that cannot make
	// network namespaces. The run says so.
	SkipTrial bool
}

// Activated is what an activation did. It holds nothing that differs between two
// equal runs.
type Activated struct {
	// Change of the node set.
	Change Change `json:"change"`
	// Reload is "none" (equal files), "reconfigure", "restart" or "start".
	Reload string `json:"reload"`
	// Kept maps nodes that somebody else had drained to that reason.
	Kept map[string]string `json:"kept,omitempty"`
	// Reservations that held a host that left, and others, in words.
	Reservations []string `json:"reservations,omitempty"`
	// Warnings are errors that slurmctld logs about the files but accepts.
	Warnings []string `json:"warnings,omitempty"`
}

// Unresolved says that the controller cannot resolve names of nodes. Slurm
// would quietly take such nodes out of service.
type Unresolved struct{ Names []string }

func (e *Unresolved) Error() string {
	return fmt.Sprintf("the controller cannot resolve %s: give an address in the inventory, or add the names to DNS", hostlist.Compress(e.Names))
}

// DeadlinePassed says that jobs were left on hosts that leave or change shape
// when the time was over. What was drained for that is open again; nothing has changed.
type DeadlinePassed struct {
	// Change that was asked for.
	Change Change
	// Busy is what was left.
	Busy *StillBusy
}

func (e *DeadlinePassed) Error() string { return e.Busy.Error() }

// Choices are the ways on, each one a sentence for a person.
func (e *DeadlinePassed) Choices() []string {
	ids := strings.Join(IDs(e.Busy.Jobs), ",")
	keep := "keep the hosts: put " + hostlist.Compress(e.Busy.Nodes) + " back into the environment file as they were"
	choices := []string{"wait on: run again, with a longer drainDeadline"}
	if ids != "" {
		choices = append(choices, "requeue the jobs: scontrol requeue "+ids, "cancel the jobs: scancel "+ids)
	}
	return append(choices, keep)
}

// activation is one run of the steps.
type activation struct {
	*Client
	spec Activation
	host Host
	// placement of the new files; its ID is this run's own.
	placement Placement

	started time.Time // when this run began to wait for jobs

	fresh   bool     // no slurmctld runs yet
	change  Change   // from the live nodes to the new ones
	drained Drained  // what this run keeps from jobs
	queued  []string // jobs, before the state moved
	retired bool     // partitions are kept from new jobs
	placed  bool     // new files may be in place
	stopped bool     // this run stopped slurmctld
	result  Activated
}

// step is one part of an activation.
type step struct {
	title string
	run   func(context.Context) error
	// about names what the step works on; it has nothing to do where that is "".
	// nil for a step that is always done.
	about func() string
}

// heading announces the step; it is "" where there is nothing to do.
func (s step) heading() string {
	if s.about == nil {
		return s.title
	}
	if what := s.about(); what != "" {
		return s.title + ": " + what
	}
	return ""
}

// steps of an activation, in order. Until the files are placed, nothing has
// changed but what keeps new jobs from hosts and partitions, which is lifted
// when a step fails. From then on, a failure puts the previous files back into
// use.
func (a *activation) steps() []step {
	return []step{
		{"Compare the live nodes with the new ones", a.compare, nil},
		{"Resolve the names of the nodes", a.resolve, nil},
		{"Load the new files on trial", a.trial, nil},
		{"Make what the new files refer to", a.prepare, nil},
		{"Look for jobs and reservations that need the hosts that leave", a.strand, a.leaving},
		{"Wait for the jobs of partitions that go", a.empty, a.going},
		{"Drain the hosts that leave or change shape", a.drain, a.busy},
		{"Place the files and reload slurmctld", a.reload, nil},
		{"Close the hosts that join", a.close, a.joining},
		{"Check that slurmctld runs with the new files", a.verify, nil},
	}
}

func (a *activation) leaving() string { return hostlist.Compress(a.change.Removed) }
func (a *activation) going() string   { return strings.Join(a.spec.Empty, ", ") }
func (a *activation) busy() string    { return hostlist.Compress(a.change.Busy()) }
func (a *activation) joining() string { return hostlist.Compress(a.change.Added) }

// Titles of the steps of an activation, in order, for a plan.
func Titles() []string {
	var titles []string
	for _, s := range (&activation{}).steps() {
		titles = append(titles, s.title)
	}
	return titles
}

// Activate brings new files into use without losing a job. It can be run again
// after any failure, also after it was interrupted.
//
// A failure is a [*TrialFailed], an [*Unresolved], a [*Stranded], a
// [*StillQueued], a [*DeadlinePassed] or what a command said; in each case the
// previous files are in use.
//
// Hosts that join are closed ([Client.Close]): their own step starts slurmd,
// validates and opens them. Hosts that change shape stay drained for
// [ReasonReshape]: their own step restarts slurmd, validates and lifts that.
func (c *Client) Activate(ctx context.Context, host Host, spec Activation) (Activated, error) {
	a := &activation{Client: c, spec: spec, host: host, placement: Placement{ID: rand.Text(), Files: spec.Files}}
	a.result.Reload = "none"
	for _, s := range a.steps() {
		heading := s.heading()
		if heading == "" {
			continue
		}
		c.say("%s", heading)
		if err := s.run(ctx); err != nil {
			// What must be undone must be undone also when ctx has ended.
			undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Minute)
			defer cancel()
			return a.result, errors.Join(fmt.Errorf("%s: %w", lowerFirst(s.title), err), a.undo(undo))
		}
	}
	// What fails from here on is no reason to go back.
	return a.result, errors.Join(host.Settle(ctx, a.placement), a.settleState(ctx), c.Reinstate(ctx))
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func (a *activation) compare(ctx context.Context) error {
	err := a.Ping(ctx)
	if errors.Is(err, ErrDown) && a.spec.Applied != nil {
		// It may have crashed: the files that stand there are those it ran with.
		a.say("slurmctld does not answer; starting it")
		if err := a.host.StartController(ctx); err != nil {
			a.say("%v", err)
		}
		err = a.WaitUp(ctx, 30*time.Second)
	}
	switch {
	case err == nil:
		live, err := a.Nodes(ctx)
		if err != nil {
			return err
		}
		a.change = CompareNodes(live, a.spec.Nodes).with(a.spec.Reshape, live)
		if err := a.Reinstate(ctx, a.spec.Empty...); err != nil {
			return err
		}
	case errors.Is(err, ErrDown) && a.spec.Applied == nil:
		a.fresh = true
		a.change = CompareNodes(nil, a.spec.Nodes)
	case errors.Is(err, ErrDown):
		a.fresh = true
		a.change = compareNames(a.spec.Applied, a.spec.Nodes)
		if len(a.change.Removed) > 0 {
			return fmt.Errorf("%w, so the jobs on %s cannot be waited for: bring it up first", ErrDown, hostlist.Compress(a.change.Removed))
		}
		if len(a.spec.Empty) > 0 {
			return fmt.Errorf("%w, so the jobs of partition %s cannot be waited for: bring it up first", ErrDown, strings.Join(a.spec.Empty, ", "))
		}
	default:
		return err
	}
	a.result.Change = a.change
	a.say("the new file set has: %s", a.change)
	return nil
}

// compareNames compares by name alone.
func compareNames(applied []string, desired []NodeSpec) Change {
	var live []Node
	shape := map[string]NodeSpec{}
	for _, d := range desired {
		shape[d.Name] = d
	}
	for _, name := range applied {
		d := shape[name]
		live = append(live, Node{Name: name, CPUs: d.CPUs, Sockets: d.Sockets, Cores: d.Cores,
			Threads: d.Threads, RealMemory: d.RealMemory, Gres: d.Gres})
	}
	return CompareNodes(live, desired)
}

// resolve asks the controller itself: its resolver is the one that counts.
func (a *activation) resolve(ctx context.Context) error {
	var names []string
	for _, n := range a.spec.Nodes {
		switch {
		case n.Addr == "":
			names = append(names, n.Name)
		case net.ParseIP(n.Addr) == nil:
			names = append(names, n.Addr)
		}
	}
	if len(names) == 0 {
		return nil
	}
	script := `while read -r name; do getent ahosts "$name" >/dev/null || echo "$name"; done`
	out, err := a.Runner.Run(ctx, script, []byte(strings.Join(names, "\n")+"\n"))
	if err != nil {
		return err
	}
	if missing := lines(string(out)); len(missing) > 0 {
		return &Unresolved{Names: missing}
	}
	return nil
}

func (a *activation) trial(ctx context.Context) error {
	if a.spec.SkipTrial {
		a.say("skipped, as asked")
		return nil
	}
	log, err := a.Trial(ctx, a.spec.Files, a.spec.Nodes, a.spec.SlurmUser)
	a.result.Warnings = log
	return err
}

func (a *activation) prepare(ctx context.Context) error {
	if a.spec.Prepare == nil {
		return nil
	}
	return a.spec.Prepare(ctx)
}

func (a *activation) drain(ctx context.Context) error {
	busy := a.change.Busy()
	if len(busy) == 0 {
		return nil
	}
	a.drained = Drained{Kept: map[string]string{}}
	for _, part := range []struct {
		nodes  []string
		reason string
	}{{a.change.Removed, ReasonLeave}, {a.change.ReshapedNames(), ReasonReshape}} {
		if len(part.nodes) == 0 {
			continue
		}
		d, err := a.Drain(ctx, part.nodes, part.reason)
		a.drained.Ours = append(a.drained.Ours, d.Ours...)
		for n, why := range d.Kept {
			a.drained.Kept[n] = why
			a.say("%s is drained already: %s", n, why)
		}
		if err != nil {
			return err
		}
	}
	a.result.Kept = a.drained.Kept
	err := a.WaitDrained(ctx, busy, a.deadline())
	var late *StillBusy
	if errors.As(err, &late) {
		return &DeadlinePassed{Change: a.change, Busy: late}
	}
	return err
}

// deadline is what is left of the time to wait for jobs.
func (a *activation) deadline() time.Duration {
	if a.started.IsZero() {
		a.started = time.Now()
	}
	left := orDefault(a.spec.DrainDeadline, 30*time.Minute) - time.Since(a.started)
	return max(0, left.Round(time.Second))
}
