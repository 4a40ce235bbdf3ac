package slurmstep

import (
	"context"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// LoginSpec says how a host gives people the cluster's commands.
type LoginSpec struct {
	// Host by name.
	Host string `json:"host"`
	// Sackd tells that the release fetches its configuration through sackd.
	Sackd bool `json:"sackd"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

func applyLogin(ctx context.Context, in *step.Input) (any, error) {
	var spec LoginSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	_, err = play(ctx, in, session, playbook.Login, []string{spec.Host}, spec.Vars, nil)
	if err == nil {
		return step.Ready(spec.Host, ""), nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return step.Quarantined(spec.Host, err), nil
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
