package slurmctl

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// StateMove is a change of slurmctld's StateSaveLocation. The zero value is
// none.
type StateMove struct {
	// From and To are the directories, absolute. To exists and belongs to the
	// slurm user.
	From, To string
}

// copyMark lies in a directory while the state in it is a copy that slurmctld
// has not been proved to run with: such a copy may be made anew.
const copyMark = ".gpucluster-copy"

// CopyState copies the state as the slurm user, who alone may be known on a
// network file system. slurmctld is stopped. The state of another slurmctld is
// not overwritten.
func (s Shell) CopyState(ctx context.Context, m StateMove, user string) error {
	const script = `set -e
from=$1 to=$2
[ -e "$from/job_state" ] || { echo "there is no state in $from" >&2; exit 1; }
if [ -e "$to/job_state" ] && [ ! -e "$to/` + copyMark + `" ]; then
	echo "$to holds a state already: move it away" >&2
	exit 1
fi
rm -f "$from/` + copyMark + `"
: >"$to/` + copyMark + `"
cp -a --remove-destination "$from/." "$to/"
sync -f "$to"`
	words := shell.Words("runuser", "-u", user, "--", "/bin/sh", "-c", script, "sh", m.From, m.To)
	if _, err := s.Runner.Run(ctx, words, nil); err != nil {
		return fmt.Errorf("copying slurmctld's state from %s to %s: %w", m.From, m.To, err)
	}
	return nil
}

// SettleState says that slurmctld runs with the copy.
func (s Shell) SettleState(ctx context.Context, m StateMove) error {
	if _, err := s.Runner.Run(ctx, "rm -f "+shell.Quote(path.Join(m.To, copyMark)), nil); err != nil {
		return fmt.Errorf("settling slurmctld's state in %s: %w", m.To, err)
	}
	return nil
}

// CopyState copies on the primary: it keeps the state, or all share it.
func (h Hosts) CopyState(ctx context.Context, m StateMove, user string) error {
	return h[0].CopyState(ctx, m, user)
}

// SettleState settles on the primary.
func (h Hosts) SettleState(ctx context.Context, m StateMove) error {
	return h[0].SettleState(ctx, m)
}

// moveState gives the next slurmctld the state of the one that was stopped.
func (a *activation) moveState(ctx context.Context) error {
	if a.spec.State == (StateMove{}) {
		return nil
	}
	a.say("copying slurmctld's state from %s to %s", a.spec.State.From, a.spec.State.To)
	user := a.spec.SlurmUser
	if user == "" {
		user = "slurm"
	}
	return a.host.CopyState(ctx, a.spec.State, user)
}

func (a *activation) settleState(ctx context.Context) error {
	if a.spec.State == (StateMove{}) {
		return nil
	}
	return a.host.SettleState(ctx, a.spec.State)
}

// queue remembers which jobs there are before the state moves.
func (a *activation) queue(ctx context.Context) error {
	if a.spec.State == (StateMove{}) || a.fresh {
		return nil
	}
	jobs, err := a.Jobs(ctx)
	a.queued = numbers(jobs)
	return err
}

// knowsQueue fails when slurmctld lacks a job that there was before.
func (a *activation) knowsQueue(ctx context.Context) error {
	if len(a.queued) == 0 {
		return nil
	}
	jobs, err := a.Jobs(ctx, "all")
	if err != nil {
		return err
	}
	known := numbers(jobs)
	if lost := slices.DeleteFunc(slices.Clone(a.queued), func(id string) bool { return slices.Contains(known, id) }); len(lost) > 0 {
		return fmt.Errorf("slurmctld does not know the jobs %s after its state was moved to %s", strings.Join(lost, ","), a.spec.State.To)
	}
	return nil
}

// numbers are the ids of jobs without the tasks of arrays.
func numbers(jobs []Job) []string {
	var ids []string
	for _, id := range IDs(jobs) {
		id, _, _ = strings.Cut(id, "_")
		ids = append(ids, id)
	}
	hostlist.Sort(ids)
	return slices.Compact(ids)
}
