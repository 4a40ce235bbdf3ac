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
	detail, err := join(ctx, in, spec)
	if err == nil {
		return step.Ready(spec.Host, detail), nil
	}
	if ctx.Err() != nil {
		return nil, err
	}
	return step.Quarantined(spec.Host, err), nil
}

// join brings the host in: closed, then a real job, then open. A host that has
// work and needs nothing but its files stays open.
func join(ctx context.Context, in *step.Input, spec MemberSpec) (string, error) {
	session, err := in.Connect(ctx)
	if err != nil {
		return "", err
	}
	defer session.Close()
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		return "", err
	}
	member := member{spec: spec, session: session, ctl: ctl, in: in}
	detail, err := member.join(ctx)
	var held *slurmctl.Held
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &held):
		// Somebody else's drain stays theirs.
		return detail, err
	}
	if quarantine := ctl.Quarantine(ctx, spec.Host, firstLine(err)); quarantine != nil {
		in.Logf("%s could not be drained: %v", spec.Host, quarantine)
	}
	return detail, err
}

type member struct {
	spec    MemberSpec
	session *remote.Session
	ctl     *slurmctl.Client
	in      *step.Input
}

func (m member) join(ctx context.Context) (string, error) {
	host := []string{m.spec.Host}
	trusted, err := m.trusted(ctx)
	if err != nil {
		return "", err
	}
	if !trusted {
		if err := m.ctl.Close(ctx, host); err != nil {
			return "", err
		}
	}
	_, err = play(ctx, m.in, m.session, playbook.Compute, host, m.spec.Vars, nil)
	if err != nil {
		return "", err
	}
	if err := m.restart(ctx); err != nil {
		return "", err
	}
	if trusted {
		return m.describe(), m.ctl.WaitReady(ctx, m.spec.Host, readyLimit)
	}
	gres, err := slurmctl.ParseGres(m.spec.Gres)
	if err != nil {
		return "", err
	}
	if _, err := m.ctl.Validate(ctx, slurmctl.Validation{Node: m.spec.Host, GPUs: gres, ReadyLimit: readyLimit}); err != nil {
		return "", err
	}
	return m.describe(), m.ctl.Open(ctx, host)
}

// trusted reports that the host is a member already, open and in use or ready
// for it: it needs no new proof.
func (m member) trusted(ctx context.Context) (bool, error) {
	closed, err := m.ctl.Closed(ctx, []string{m.spec.Host})
	if err != nil || len(closed) > 0 {
		return false, err
	}
	nodes, err := m.ctl.NodesNamed(ctx, []string{m.spec.Host})
	if err != nil {
		return false, err
	}
	return nodes[0].State.Usable(), nil
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

func (m member) describe() string {
	if m.spec.Gres == "" {
		return "a job of ours ran"
	}
	return "a job of ours ran on " + m.spec.Gres
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
