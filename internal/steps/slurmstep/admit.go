package slurmstep

import (
	"context"
	"errors"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// standing is what the controller thought of a host before a run worked on it.
type standing struct {
	// closed tells that it was kept from jobs by a closure of ours.
	closed bool
	// usable tells that it was a member already, open and in use or ready for it.
	usable bool
}

func (m member) standing(ctx context.Context) (standing, error) {
	closed, err := m.ctl.Closed(ctx, []string{m.spec.Host})
	if err != nil {
		return standing{}, err
	}
	nodes, err := m.ctl.NodesNamed(ctx, []string{m.spec.Host})
	if err != nil {
		return standing{}, err
	}
	return standing{closed: len(closed) > 0, usable: len(closed) == 0 && nodes[0].State.Usable()}, nil
}

// admit lets a host whose slurmd runs take jobs, after one of ours. It says how.
// A host that a person holds stays theirs: what this run closed is open again,
// so that nothing of ours is in the way when they let it go.
func (m member) admit(ctx context.Context, was standing) (string, error) {
	err := m.validate(ctx, was)
	var held *slurmctl.Held
	switch {
	case errors.As(err, &held) && was.closed:
		return "held by " + held.User + ": " + held.Reason + "; it is checked by a job when it is let go", nil
	case errors.As(err, &held):
		err = m.ctl.Open(ctx, []string{m.spec.Host})
		return "held by " + held.User + ": " + held.Reason, err
	case err != nil:
		return "", err
	}
	return m.describe(), m.ctl.Open(ctx, []string{m.spec.Host})
}

// validate runs a job on all GPUs of the host, unless one did when it came in:
// that is so where it was open and usable, and where others have jobs on it. A
// job of ours would wait for theirs.
func (m member) validate(ctx context.Context, was standing) error {
	host := m.spec.Host
	if err := m.ctl.WaitReady(ctx, host, readyLimit); err != nil || was.usable {
		return err
	}
	jobs, err := m.ctl.JobsOnNodes(ctx, []string{host})
	if err != nil {
		return err
	}
	for _, job := range jobs {
		if job.Reservation != slurmctl.ClosureName(host) {
			m.in.Logf("%s has jobs, so it has been checked before", host)
			return nil
		}
	}
	gres, err := slurmctl.ParseGres(m.spec.Gres)
	if err != nil {
		return err
	}
	_, err = m.ctl.Validate(ctx, slurmctl.Validation{Node: host, GPUs: gres, ReadyLimit: readyLimit})
	return err
}

func (m member) describe() string {
	if m.spec.Gres == "" {
		return "validation job passed"
	}
	return "validation job passed on " + m.spec.Gres
}
