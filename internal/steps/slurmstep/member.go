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
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// MemberSpec says which scheduler a host belongs to and as what.
type MemberSpec struct {
	// Host by name.
	Host string `json:"host"`
	// Owner is the scheduler that the host works for.
	Owner string `json:"owner"`
	// Controllers by name, the primary first.
	Controllers []string `json:"controllers"`
	// Gres that the host has, as on its line in slurm.conf.
	Gres string `json:"gres,omitempty"`
	// Shape of the host, its place and its devices: a change of it restarts
	// slurmd.
	Shape string `json:"shape"`
	// Cluster is a digest of what every slurmd reads only when it starts.
	Cluster string `json:"cluster"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

func applyMember(ctx context.Context, in *step.Input) (any, error) {
	var spec MemberSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		return nil, err
	}
	m := member{spec: spec, session: session, ctl: ctl, in: in}
	why := hoststep.Unprepared(in)
	if why == nil {
		detail, err := m.join(ctx)
		if err == nil {
			return step.Ready(spec.Host, detail), nil
		}
		if why = m.failure(ctx, err); why == nil || ctx.Err() != nil {
			return nil, err
		}
	}
	if err := ctl.Quarantine(ctx, spec.Host, drainReason(why)); err != nil {
		in.Logf("%s could not be drained: %v", spec.Host, err)
	}
	return step.Quarantined(spec.Host, why), nil
}

type member struct {
	spec    MemberSpec
	session *remote.Session
	ctl     *slurmctl.Client
	in      *step.Input
}

// failure is err if it says that something is wrong with the host, else nil:
// what is wrong elsewhere must not drain hosts that work.
func (m member) failure(ctx context.Context, err error) error {
	if !hoststep.IsTheHosts(err, m.spec.Host) || m.ctl.Ping(ctx) != nil {
		return nil
	}
	return err
}

// join brings the host in: closed, then a real job, then open. A host that is
// open and usable and needs nothing but its files stays open.
func (m member) join(ctx context.Context) (string, error) {
	was, err := m.standing(ctx)
	if err != nil {
		return "", err
	}
	if !was.usable {
		if err := m.ctl.Close(ctx, []string{m.spec.Host}); err != nil {
			return "", err
		}
	}
	_, err = play(ctx, m.in, m.session, playbook.Compute, []string{m.spec.Host}, m.spec.Vars, nil)
	var failed *playbook.Error
	if err != nil && !errors.As(err, &failed) {
		return "", hoststep.NotTheHosts{Err: err}
	}
	if err != nil {
		return "", err
	}
	if err := m.restart(ctx); err != nil {
		return "", err
	}
	return m.admit(ctx, was)
}

// restart makes slurmd read what it reads only when it starts, once for each
// change. Its jobs go on.
func (m member) restart(ctx context.Context) error {
	mark := "/var/lib/gpucluster/slurmd-started-with"
	wanted := m.spec.Cluster + " " + m.spec.Shape + " " + m.spec.Gres
	script := fmt.Sprintf(`set -e
mkdir -p /var/lib/gpucluster
wanted=$(cat)
if [ "$wanted" != "$(cat %[1]s 2>/dev/null)" ]; then
  systemctl restart slurmd
  printf '%%s\n' "$wanted" >%[1]s
fi`, mark)
	if _, err := m.session.Run(ctx, m.spec.Host, script, []byte(wanted)); err != nil {
		return fmt.Errorf("restarting slurmd on %s: %w", m.spec.Host, err)
	}
	return nil
}

// drainReason is what Slurm shows for the drain: one line.
func drainReason(err error) string {
	text := err.Error()
	var failed *playbook.Error
	if errors.As(err, &failed) {
		text = failed.Failures[0].String()
	}
	line, _, _ := strings.Cut(text, "\n")
	return line
}
