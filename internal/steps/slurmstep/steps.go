// Package slurmstep holds the steps that build and keep a Slurm cluster.
package slurmstep

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Names of the steps.
const (
	Keys       = "slurm-keys"
	Database   = "slurm-database"
	Controller = "slurm-controller"
	Login      = "slurm-login"
	Member     = "host-membership"
	Accounting = "slurm-accounting"
	Smoke      = "slurm-smoke"
	Guard      = "guard"
)

// Names of the secrets.
const (
	// SecretMunge is the MUNGE key in base64.
	SecretMunge = "MUNGE_KEY"
	// SecretDatabase is the password of the accounting database.
	SecretDatabase = "DATABASE_PASSWORD"
)

// Steps returns the steps of a Slurm cluster.
func Steps() step.Registry {
	return step.Registry{
		{Name: Keys, Title: "Make the cluster's keys", Apply: applyKeys},
		{Name: Database, Title: "Keep accounting records", Toolkit: toolkit(playbook.Database), Apply: applyDatabase, Remove: removeDatabase, Probe: probeDatabase},
		{Name: Controller, Title: "Activate the configuration on the controllers", Toolkit: toolkit(playbook.Controller), Apply: applyController, Remove: removeController, Probe: probeController},
		{Name: Login, Title: "Give a login host the cluster's commands", Toolkit: toolkit(playbook.Login), Apply: applyLogin, Remove: removeLogin, Probe: probeLogin},
		{Name: Member, Title: "Bring a host into the cluster", Toolkit: toolkit(playbook.Compute), Apply: applyMember, Remove: removeMember, Probe: probeMember},
		{Name: Accounting, Title: "Reconcile accounts, users and QOS", Apply: applyAccounting, Probe: probeAccounting},
		{Name: Smoke, Title: "Run a GPU job over several hosts", Apply: applySmoke},
		{Name: Guard, Title: "Keep running jobs from being destroyed", Apply: applyGuard, Remove: removeGuard},
	}
}

// toolkit is the digest of what a playbook does.
func toolkit(book playbook.Playbook) func() string {
	return func() string { return playbook.Digest(book) }
}

// play runs a playbook on hosts with the cluster's key.
func play(ctx context.Context, in *step.Input, session *remote.Session, book playbook.Playbook, hosts []string, vars map[string]any, secrets map[string]string) (playbook.Result, error) {
	all := map[string]string{"munge_key": in.Secret(SecretMunge)}
	for name, value := range secrets {
		all[name] = value
	}
	return playbook.Run(ctx, session, book, playbook.Request{
		Groups: map[string][]string{"all": hosts}, Vars: vars, SecretVars: all, Progress: in.Log,
	})
}

// client asks the first controller whose host can be reached.
func client(ctx context.Context, in *step.Input, session *remote.Session, controllers []string) (*slurmctl.Client, error) {
	var unreachable error
	for _, host := range controllers {
		if _, err := session.Run(ctx, host, "true", nil); err != nil {
			unreachable = errors.Join(unreachable, err)
			continue
		}
		return &slurmctl.Client{
			Runner:   session.Runner(host),
			Progress: func(line string) { in.Logf("%s", line) },
		}, nil
	}
	if unreachable == nil {
		unreachable = errors.New("the environment names none")
	}
	return nil, fmt.Errorf("no controller can be reached: %w", unreachable)
}
