package slurmstep

import (
	"context"
	"errors"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// LoginSpec says how a host gives people the cluster's commands.
type LoginSpec struct {
	// Host by name.
	Host string `json:"host"`
	// Sackd tells that sackd fetches the configuration: the release has it, and
	// no other daemon of Slurm on the host does.
	Sackd bool `json:"sackd"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

func applyLogin(ctx context.Context, in *step.Input) (any, error) {
	var spec LoginSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	if why := unprepared(in); why != nil {
		return step.Quarantined(spec.Host, why), nil
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	_, err = play(ctx, in, session, playbook.Login, []string{spec.Host}, spec.Vars, nil)
	var failed *playbook.Error
	switch {
	case err == nil:
		return step.Ready(spec.Host, ""), nil
	case ctx.Err() == nil && errors.As(err, &failed):
		return step.Quarantined(spec.Host, err), nil
	}
	return nil, err // no fault of the host
}

func removeLogin(ctx context.Context, in *step.Input) error {
	var spec LoginSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return unplay(ctx, in, session, playbook.LoginRemove, []string{spec.Host}, spec.Vars)
}

func probeLogin(ctx context.Context, in *step.Input) error {
	var spec LoginSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	units := []string{"munge"}
	if spec.Sackd {
		units = append(units, "sackd")
	}
	return active(ctx, session, spec.Host, units...)
}
