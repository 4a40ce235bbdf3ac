package slurmstep

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// handedOut is where sackd keeps the configuration.
const handedOut = "/run/slurm/conf/slurm.conf"

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

// ownConfig is the configuration that the host has for being a login host;
// empty where it has that of its slurmctld or slurmd.
func (s LoginSpec) ownConfig() string {
	switch {
	case s.Sackd:
		return handedOut
	case s.Vars["slurm_login_own_config"] == true:
		return configDir + "/slurm.conf"
	}
	return ""
}

func applyLogin(ctx context.Context, in *step.Input) (any, error) {
	var spec LoginSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	if why := hoststep.Unprepared(in); why != nil {
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
	return hoststep.Unplay(ctx, in, session, playbook.LoginRemove, []string{spec.Host}, spec.Vars)
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
	conf := spec.ownConfig()
	if err := hoststep.Active(ctx, session, spec.Host, units...); err != nil || conf == "" {
		return err
	}
	// sackd runs on when it has lost its folder, and people's commands fail.
	_, err = session.Run(ctx, spec.Host, "stat "+conf, nil)
	var missing *remote.CommandError
	if errors.As(err, &missing) && !missing.Unreachable {
		return fmt.Errorf("%s has no configuration for people's commands: %s is missing", spec.Host, conf)
	}
	return err
}
