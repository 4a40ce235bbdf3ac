package accounting

import (
	"context"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// removeAll stops what goes from getting jobs, waits for the jobs that it has and
// deletes it. What still has jobs at the deadline stays, stopped, and is returned.
func (a *applier) removeAll(ctx context.Context, removals []Removal) (*StillUsed, error) {
	if len(removals) == 0 {
		return nil, nil
	}
	var blocks []Command
	for _, r := range removals {
		if r.Block != nil {
			blocks = append(blocks, *r.Block)
		}
	}
	if err := a.run(ctx, blocks); err != nil {
		return nil, err
	}
	used, err := a.waitUnused(ctx, removals)
	if err != nil {
		return nil, err
	}
	var deletes []Command
	for _, r := range removals {
		if used == nil || !used.holds(r.Key) {
			deletes = append(deletes, r.Delete)
		}
	}
	return used, a.run(ctx, deletes)
}

// holds tells whether something that goes must stay because of jobs: its own, or
// those of what is below it or refers to it.
func (e *StillUsed) holds(k Key) bool {
	for busy := range e.Jobs {
		switch {
		case busy == k,
			k.Kind == KindUser && busy.Kind == KindAssociation && busy.Name == k.Name,
			// An account that stays keeps every account and QOS, which it may need.
			k.Kind == KindAccount, k.Kind == KindBank, k.Kind == KindQOS:
			return true
		}
	}
	return false
}

func (a *applier) waitUnused(ctx context.Context, removals []Removal) (*StillUsed, error) {
	limit := a.opt.Deadline
	if limit == 0 {
		limit = 30 * time.Minute
	}
	said := ""
	for until := time.Now().Add(limit); ; {
		jobs, err := a.ctl.Jobs(ctx)
		if err != nil {
			return nil, err
		}
		used := &StillUsed{Waited: limit, Jobs: jobsOf(removals, jobs)}
		if len(used.Jobs) == 0 {
			return nil, nil
		}
		if time.Now().After(until) {
			return used, nil
		}
		if now := strings.Join(slurmctl.IDs(used.all()), ","); now != said {
			a.say("waiting for the jobs of %s (%s), at most until %s", joinKeys(used.keys()), now, until.Format(time.TimeOnly))
			said = now
		}
		poll := a.ctl.Poll
		if poll == 0 {
			poll = 2 * time.Second
		}
		if err := pause(ctx, poll); err != nil {
			return nil, err
		}
	}
}

// jobsOf are the jobs of each user, account and QOS that goes, waiting ones too.
func jobsOf(removals []Removal, jobs []slurmctl.Job) map[Key][]slurmctl.Job {
	of := map[Key][]slurmctl.Job{}
	for _, r := range removals {
		if r.Block == nil {
			continue
		}
		for _, j := range jobs {
			account := strings.ToLower(j.Account)
			user := strings.ToLower(j.User)
			if r.Key.Kind == KindAccount && account == r.Key.Name ||
				r.Key.Kind == KindQOS && strings.EqualFold(j.QOS, r.Key.Name) ||
				r.Key.Kind == KindAssociation && account == r.Key.Account && user == r.Key.Name {
				of[r.Key] = append(of[r.Key], j)
			}
		}
	}
	return of
}
