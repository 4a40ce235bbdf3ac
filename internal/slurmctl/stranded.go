package slurmctl

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Stranded says that jobs which wait, or reservations, need hosts that leave.
// slurmctld would fail such a job (NODE_FAIL, never requeued) and delete such a
// reservation at its next reload. Nothing has changed.
type Stranded struct {
	// Leaving are the hosts that are about to go.
	Leaving []string
	// Jobs that wait and ask for one of them by name.
	Jobs []Job
	// Reservations that hold no other host.
	Reservations []Reservation
}

func (e *Stranded) Error() string {
	var what []string
	for _, j := range e.Jobs {
		what = append(what, j.Describe())
	}
	for _, r := range e.Reservations {
		what = append(what, fmt.Sprintf("reservation %s of %s", r.Name, hostlist.Compress(r.Nodes)))
	}
	return "slurmctld would lose what needs a host that leaves: " + strings.Join(what, "; ")
}

// Choices are the ways on, each one a sentence for a person.
func (e *Stranded) Choices() []string {
	var choices []string
	if len(e.Jobs) > 0 {
		choices = append(choices,
			"let the jobs run on any host, or name others: "+updateJobs(e.Jobs, "reqnodelist="),
			"cancel the jobs: scancel "+strings.Join(IDs(e.Jobs), " "))
	}
	for _, r := range e.Reservations {
		choices = append(choices, fmt.Sprintf("move or delete the reservation: scontrol update reservation=%s nodes=..., scontrol delete reservation=%[1]s", r.Name))
	}
	return append(choices, "keep the hosts: put "+hostlist.Compress(e.Leaving)+" back into the environment file as they were")
}

// updateJobs is a command that changes jobs; scontrol takes a list of them for
// some fields only.
func updateJobs(jobs []Job, set string) string {
	return "for job in " + strings.Join(IDs(jobs), " ") + "; do scontrol update jobid=$job " + set + "; done"
}

// strand fails with a [*Stranded] when something needs hosts that leave, and
// remembers the reservations that only become smaller.
func (a *activation) strand(ctx context.Context) error {
	if len(a.change.Removed) == 0 {
		return nil
	}
	lost := &Stranded{Leaving: a.change.Removed}
	var err error
	if lost.Jobs, err = a.PendingJobsNaming(ctx, a.change.Removed); err != nil {
		return err
	}
	reserved, err := a.ReservationsNaming(ctx, a.change.Removed)
	if err != nil {
		return err
	}
	a.result.Reservations = nil
	for _, r := range reserved {
		if len(without(r.Nodes, a.change.Removed)) == 0 {
			lost.Reservations = append(lost.Reservations, r)
			continue
		}
		a.result.Reservations = append(a.result.Reservations, fmt.Sprintf("reservation %s held %s", r.Name, hostlist.Compress(r.Nodes)))
	}
	if len(lost.Jobs)+len(lost.Reservations) > 0 {
		return lost
	}
	return nil
}

// without are the names that are not among others.
func without(names, others []string) []string {
	var rest []string
	for _, name := range names {
		if !overlap([]string{name}, others) {
			rest = append(rest, name)
		}
	}
	return rest
}
