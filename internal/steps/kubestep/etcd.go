package kubestep

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/etcdctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// etcdOn asks etcd through one control plane.
func etcdOn(session *remote.Session, host string) *etcdctl.Client {
	return &etcdctl.Client{Runner: session.Runner(host)}
}

// snapshotOn saves etcd's data on a control plane that works.
func snapshotOn(ctx context.Context, in *step.Input, session *remote.Session, host string) error {
	path, err := etcdOn(session, host).Snapshot(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", host, err)
	}
	in.Logf("%s: etcd's data is saved in %s", host, path)
	return nil
}

// makeRoom saves etcd's data on a control plane that works, and has the cluster
// forget the members that will not come back: what the host was before, those
// that never started, and the dead ones that the environment does not name.
func (p controlPlane) makeRoom(ctx context.Context, by string) error {
	if err := snapshotOn(ctx, p.in, p.session, by); err != nil {
		return err
	}
	members, err := etcdOn(p.session, by).Members(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", by, err)
	}
	for _, m := range lost(members, p.spec) {
		if err := p.forget(ctx, by, m); err != nil {
			return err
		}
	}
	return nil
}

// lost are the members of etcd that will not come back.
func lost(members []etcdctl.Member, spec ControlPlaneSpec) []etcdctl.Member {
	return slices.DeleteFunc(slices.Clone(members), func(m etcdctl.Member) bool {
		return m.Name != "" && m.Name != spec.Host && (m.Healthy || slices.Contains(spec.ControlPlanes, m.Name))
	})
}

// forget removes a member from etcd and its node from the cluster.
func (p controlPlane) forget(ctx context.Context, by string, m etcdctl.Member) error {
	p.in.Logf("%s: etcd forgets %s", by, strings.TrimSpace(m.Name+" "+strings.Join(m.Peers, " ")))
	if err := etcdOn(p.session, by).Remove(ctx, m.ID); err != nil {
		return fmt.Errorf("%s cannot be replaced: %w", m.Name, err)
	}
	if m.Name == "" {
		return nil
	}
	return on(p.in, p.session, by).DeleteNode(ctx, m.Name)
}

// forgotten makes a host that still thinks that it is a member, and that etcd
// has forgotten, what it was before: else it would never serve again.
func (p controlPlane) forgotten(ctx context.Context) error {
	member, err := isMember(ctx, p.session, p.spec.Host)
	if err != nil || !member {
		return err
	}
	if on(p.in, p.session, p.spec.Host).Up(ctx) == nil {
		return nil
	}
	by := p.survey(ctx).serving()
	if by == "" {
		return nil
	}
	members, err := etcdOn(p.session, by).Members(ctx)
	if err != nil || slices.ContainsFunc(members, func(m etcdctl.Member) bool { return m.Name == p.spec.Host }) {
		return nil // what is wrong with etcd there, is not what is wrong here
	}
	p.in.Logf("%s is a member no more, and joins anew", p.spec.Host)
	return hostsOrNot(play(ctx, p.in, p.session, playbook.KubernetesRemove, p.spec.Host, nil, nil))
}
