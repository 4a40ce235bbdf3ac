package slurmstep

import (
	"context"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// DatabaseSpec says how accounting records are kept.
type DatabaseSpec struct {
	// Host that runs slurmdbd.
	Host string `json:"host"`
	// Local tells that MariaDB runs on the same host and is ours.
	Local bool `json:"local"`
	// Files are slurmdbd.conf without its password.
	Files map[string]string `json:"files"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

func applyDatabase(ctx context.Context, in *step.Input) (any, error) {
	var spec DatabaseSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	password := in.Secret(SecretDatabase)
	content, err := slurmconf.WithStoragePass(spec.Files["slurmdbd.conf"], password)
	if err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	secrets := map[string]string{"slurm_database_conf": content}
	if spec.Local {
		secrets["mariadb_password"] = password
	}
	if _, err := play(ctx, in, session, playbook.Database, []string{spec.Host}, spec.Vars, secrets); err != nil {
		return nil, err
	}
	return step.Ready(spec.Host, ""), nil
}

func removeDatabase(ctx context.Context, in *step.Input) error {
	var spec DatabaseSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return unplay(ctx, in, session, playbook.DatabaseRemove, []string{spec.Host}, spec.Vars)
}

func probeDatabase(ctx context.Context, in *step.Input) error {
	var spec DatabaseSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	units := []string{"munge", "slurmdbd"}
	if spec.Local {
		units = append(units, "mariadb")
	}
	return active(ctx, session, spec.Host, units...)
}
