package kubestep

import (
	"context"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// astray sees to a host that has joined and that the cluster does not know. Where
// its node was deleted, its kubelet registers it again when it is started again;
// where the cluster has begun anew, the host is a member of one that is no more,
// and is reset. It tells whether the host is still a member.
func (m *member) astray(ctx context.Context) (bool, error) {
	authority, err := m.cluster.Authority(ctx)
	if err != nil {
		return false, hoststep.NotTheHosts{Err: err}
	}
	trusted, err := m.session.Run(ctx, m.spec.Host, "cat /etc/kubernetes/pki/ca.crt", nil)
	if err != nil {
		return false, err
	}
	if strings.TrimSpace(trusted) == strings.TrimSpace(authority) {
		m.in.Logf("the cluster has no node %s: its kubelet registers it again", m.spec.Host)
		_, err := m.session.Run(ctx, m.spec.Host, "systemctl restart kubelet", nil)
		return true, err
	}
	m.in.Logf("%s is a member of the cluster that was there before this one began: it is reset", m.spec.Host)
	return false, hostsOrNot(play(ctx, m.in, m.session, playbook.KubernetesRemove, m.spec.Host, nil, nil))
}
