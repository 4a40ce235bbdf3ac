package kubestep

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/etcdctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// releaseOf reads which release a control plane has, as the role has written it
// down, and whether it is to get another one.
func releaseOf(ctx context.Context, session *remote.Session, spec ControlPlaneSpec) (version string, due bool, err error) {
	out, err := session.Run(ctx, spec.Host, "cat /var/lib/gpucluster/kubernetes.json 2>/dev/null || echo {}", nil)
	if err != nil {
		return "", false, err
	}
	var has struct {
		Done    bool   `json:"done"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal([]byte(out), &has); err != nil {
		return "", false, fmt.Errorf("reading what the host is a member of: %w", err)
	}
	return has.Version, has.Done && has.Version != spec.Version, nil
}

// saveBeforeUpgrade saves etcd's data on a control plane that is about to become
// one of another release.
func saveBeforeUpgrade(ctx context.Context, in *step.Input, session *remote.Session, spec ControlPlaneSpec) error {
	version, due, err := releaseOf(ctx, session, spec)
	if err != nil || !due {
		return err
	}
	saved, err := (&etcdctl.Client{Runner: session.Runner(spec.Host)}).Snapshot(ctx)
	if err != nil {
		return err
	}
	in.Logf("%s goes from %s to %s: etcd's data is saved in %s", spec.Host, version, spec.Version, saved)
	return nil
}

// beginUpgrade empties a member whose kubelet is of another release. One that was
// emptied by a run that was cut off is on its way too, whatever its release is.
//
// That pods stay, or that the control planes are behind, is no fault of the host.
func (m *member) beginUpgrade(ctx context.Context, node kubectl.Node) error {
	if node.Version == "" || node.Version == m.spec.Version {
		m.upgrading = node.Marked
		return nil
	}
	release, err := m.cluster.Release(ctx)
	if err != nil {
		return hoststep.NotTheHosts{Err: err}
	}
	if release != m.spec.Version {
		return hoststep.NotTheHosts{Err: fmt.Errorf("the API server is %s, and no kubelet may be newer: the control planes have to be %s before %s is", release, m.spec.Version, m.spec.Host)}
	}
	m.upgrading = true
	m.in.Logf("%s goes from %s to %s: its pods are evicted as their budgets allow it", m.spec.Host, node.Version, m.spec.Version)
	if err := empty(ctx, m.cluster, m.spec, "or delete them yourself; until then the host stays as it is"); err != nil {
		return hoststep.NotTheHosts{Err: err}
	}
	return nil
}

// stopped keeps the others from being upgraded, since what has failed here may
// fail there too.
func (m *member) stopped(why error) error {
	return fmt.Errorf("%s has not come back from its upgrade to %s; it is closed, and no further worker is upgraded before it is mended or has left: %w", m.spec.Host, m.spec.Version, why)
}
