// Package slurmstep holds the steps that build and keep a Slurm cluster.
package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"strings"

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

// active fails when one of the units does not run on the host, or somebody has
// changed the drop-in that a role placed for it.
func active(ctx context.Context, session *remote.Session, host string, units ...string) error {
	words := "systemctl is-active --quiet"
	var missing []error
	for _, unit := range units {
		_, err := session.Run(ctx, host, words+" "+unit, nil)
		if remote.IsUnreachable(err) {
			return err
		}
		if err != nil {
			missing = append(missing, fmt.Errorf("%s does not run on %s", unit, host))
		}
	}
	if len(missing) == 0 {
		return dropinsKept(ctx, session, host, units)
	}
	return errors.Join(missing...)
}

// dropinsQuestion lists the drop-ins of units that differ from the digest that
// the module daemon noted down when it placed them.
const dropinsQuestion = `while read -r unit; do
	file=/etc/systemd/system/$unit.service.d/gpucluster.conf
	placed=$(head -c 64 "/var/lib/gpucluster/placed/etc-systemd-system-$unit.service.d-gpucluster.conf.sha256" 2>/dev/null)
	[ -z "$placed" ] || [ "$placed" = "$(sha256sum "$file" 2>/dev/null | head -c 64)" ] || echo "$file"
done`

func dropinsKept(ctx context.Context, session *remote.Session, host string, units []string) error {
	out, err := session.Run(ctx, host, dropinsQuestion, []byte(strings.Join(units, "\n")+"\n"))
	if err != nil {
		return err
	}
	if changed := strings.Fields(out); len(changed) > 0 {
		return fmt.Errorf("files on %s were changed by somebody else: %s", host, strings.Join(changed, "; "))
	}
	return nil
}
