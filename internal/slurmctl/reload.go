package slurmctl

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// reload places the files and makes slurmctld use them, in the way that the
// release and the change need.
func (a *activation) reload(ctx context.Context) error {
	// People may have submitted during the wait for the hosts' jobs.
	if err := a.strand(ctx); err != nil {
		return err
	}
	limit := orDefault(a.spec.UpLimit, 2*time.Minute)
	switch {
	case a.fresh:
		a.result.Reload = "start"
	case a.spec.Restart, a.coldNodes() && !a.change.Empty():
		a.result.Reload = "restart"
	default:
		a.result.Reload = "reconfigure"
	}
	if a.result.Reload != "reconfigure" {
		if err := a.queue(ctx); err != nil {
			return err
		}
		// A daemon that is down answers nothing wrong while the files change.
		a.stopped = true
		if err := a.host.StopController(ctx); err != nil {
			return err
		}
		if err := a.moveState(ctx); err != nil {
			return err
		}
	}
	a.placed = true
	if err := a.host.Place(ctx, a.placement); err != nil {
		return err
	}
	if a.result.Reload == "reconfigure" {
		if err := a.Reconfigure(ctx); err != nil {
			return err
		}
		return a.WaitUp(ctx, limit)
	}
	if err := a.host.StartController(ctx); err != nil {
		return err
	}
	a.stopped = false
	return a.WaitUp(ctx, limit)
}

// coldNodes tells whether a change of the node set needs a restart: before
// 23.11 a reconfigure with other nodes is fatal.
func (a *activation) coldNodes() bool {
	version, err := slurmconf.ParseVersion(a.spec.Version)
	return err != nil || !version.ReconfigureTakesNodes()
}

// close keeps jobs from the hosts that join. They cannot have started one: no
// slurmd of theirs has registered with this slurmctld yet.
func (a *activation) close(ctx context.Context) error {
	return a.Close(ctx, a.change.Added)
}

// verify asks the daemon what it runs with. A reconfigure before 23.11 returns
// at once, so it is asked until the answer is right, for a while.
func (a *activation) verify(ctx context.Context) error {
	until := time.Now().Add(orDefault(a.spec.UpLimit, 2*time.Minute))
	for wait := a.pauses(); ; {
		err := a.inUse(ctx)
		if err == nil || time.Now().After(until) {
			return err
		}
		if waitErr := wait(ctx); waitErr != nil {
			return errors.Join(err, waitErr)
		}
	}
}

// inUse compares the running configuration with the new one.
func (a *activation) inUse(ctx context.Context) error {
	// slurmctld and scontrol hash slurm.conf; scontrol says whether the file
	// on disk is the one that the daemon read.
	hash, err := a.setting(ctx, "HASH_VAL")
	if err != nil {
		return err
	}
	if hash != "Match" {
		return fmt.Errorf("slurmctld runs with another slurm.conf (%s)", hash)
	}
	live, err := a.Nodes(ctx)
	if err != nil {
		return err
	}
	have := make([]string, len(live))
	for i, n := range live {
		have[i] = n.Name
	}
	want := make([]string, len(a.spec.Nodes))
	for i, n := range a.spec.Nodes {
		want[i] = n.Name
	}
	if err := a.knowsQueue(ctx); err != nil {
		return err
	}
	sort.Strings(have)
	sort.Strings(want)
	if strings.Join(have, ",") != strings.Join(want, ",") {
		return fmt.Errorf("slurmctld knows the nodes %s, not %s", hostlist.Compress(have), hostlist.Compress(want))
	}
	return nil
}

// undo puts the previous state into use after a step failed. What it cannot
// undo, it reports.
func (a *activation) undo(ctx context.Context) error {
	var all []error
	if a.placed {
		a.say("putting the previous files back")
		all = append(all, a.host.Restore(ctx, a.placement), a.again(ctx))
	} else if a.stopped {
		all = append(all, a.host.StartController(ctx), a.WaitUp(ctx, orDefault(a.spec.UpLimit, 2*time.Minute)))
	}
	if a.retired {
		all = append(all, a.Reinstate(ctx))
	}
	if len(a.drained.Ours) > 0 {
		a.say("lifting the drains of this run")
		for _, reason := range []string{ReasonLeave, ReasonReshape} {
			_, err := a.Undrain(ctx, a.drained.Ours, reason)
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// again makes slurmctld use the files that were put back.
func (a *activation) again(ctx context.Context) error {
	if a.fresh {
		return nil // there was none before
	}
	if a.result.Reload == "reconfigure" && !a.coldNodes() && a.Ping(ctx) == nil {
		return a.Reconfigure(ctx)
	}
	if err := errors.Join(a.host.StopController(ctx), a.host.StartController(ctx)); err != nil {
		return err
	}
	return a.WaitUp(ctx, orDefault(a.spec.UpLimit, 2*time.Minute))
}
