package hoststep

import (
	"context"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// HomeSpec says how a host has the shared home.
type HomeSpec struct {
	// Host by name.
	Host string `json:"host"`
	// Essential hosts stop the run when they fail; others are quarantined.
	Essential bool `json:"essential,omitempty"`
	// Path where the tree is mounted.
	Path string `json:"path"`
	// Server makes the host serve the tree and make people's home folders.
	Server bool `json:"server,omitempty"`
	// Vars of the playbook.
	Vars map[string]any `json:"vars"`
}

func (s HomeSpec) groups() map[string][]string {
	host := []string{s.Host}
	groups := map[string][]string{"clients": host}
	if s.Server {
		groups["storage"] = host
		groups["homes"] = host
	}
	return groups
}

func applyHome(ctx context.Context, in *step.Input) (any, error) {
	var spec HomeSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	err := onHost(ctx, in, spec.Host, func(session *remote.Session) error {
		_, err := playbook.Run(ctx, session, playbook.SharedHome, playbook.Request{
			Groups: spec.groups(), Vars: spec.Vars, Progress: in.Log,
		})
		return err
	})
	return outcome(ctx, spec.Host, spec.Essential, err)
}

func removeHome(ctx context.Context, in *step.Input) error {
	var spec HomeSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	return ifThere(ctx, in, spec.Host, func(session *remote.Session) error {
		_, err := playbook.Run(ctx, session, playbook.SharedHomeRemove, playbook.Request{
			Groups: spec.groups(), Vars: spec.Vars, Progress: in.Log,
		})
		return err
	})
}

// probeHome looks at the mount within a time limit: a stale one hangs.
func probeHome(ctx context.Context, in *step.Input) error {
	var spec HomeSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	return onHost(ctx, in, spec.Host, func(session *remote.Session) error {
		path := shell.Quote(spec.Path)
		_, err := session.Run(ctx, spec.Host, "timeout -s KILL 5 mountpoint -q "+path+" && timeout -s KILL 5 stat -t "+path+" >/dev/null", nil)
		if err != nil && !remote.IsUnreachable(err) {
			return fmt.Errorf("%s has no working shared home at %s: %w", spec.Host, spec.Path, err)
		}
		return err
	})
}
