package slurmstep

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
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
	return hoststep.Unplay(ctx, in, session, playbook.DatabaseRemove, []string{spec.Host}, spec.Vars)
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
	if err := hoststep.Active(ctx, session, spec.Host, units...); err != nil {
		return err
	}
	return serving(ctx, session, spec.Host)
}

// servingQuestion succeeds once slurmdbd listens on its port, the default of the
// role slurm_database. It is asked for 10 s, since slurmdbd may just have
// started; then its last words are the answer.
const servingQuestion = `for i in $(seq 20); do
	ss -Hltn 'sport = :6819' | grep -q . && exit
	sleep 0.5
done
journalctl -u slurmdbd -n 2 -o cat --no-pager
exit 1`

// serving fails where slurmdbd runs but takes no connections: it listens only
// when it has reached its database, and goes on trying for ever.
func serving(ctx context.Context, session *remote.Session, host string) error {
	said, err := session.Run(ctx, host, servingQuestion, nil)
	if err == nil || remote.IsUnreachable(err) {
		return err
	}
	return fmt.Errorf("slurmdbd runs on %s, but takes no connections: it said last: %s", host, strings.ReplaceAll(strings.TrimSpace(said), "\n", "; "))
}
