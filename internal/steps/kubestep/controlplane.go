package kubestep

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// ControlPlaneSpec says what a control plane is.
type ControlPlaneSpec struct {
	// Host by name.
	Host string `json:"host"`
	// ControlPlanes by name, this one included. On the first the cluster begins,
	// where there is none yet.
	ControlPlanes []string `json:"controlPlanes"`
	// Endpoint of the API, host:port.
	Endpoint string `json:"endpoint"`
	// Version, PodCIDR and ServiceCIDR are what the cluster began with.
	Version     string `json:"version"`
	PodCIDR     string `json:"podCIDR"`
	ServiceCIDR string `json:"serviceCIDR"`
	// Node are the variables of the playbook that prepares any node.
	Node map[string]any `json:"node"`
	// Vars of the playbook for control planes.
	Vars map[string]any `json:"vars"`
}

// controlPlane is a control plane that a step works on.
type controlPlane struct {
	spec    ControlPlaneSpec
	session *remote.Session
	in      *step.Input
}

// applyControlPlane has the host serve the API. One that fails while others
// serve it is put in quarantine: the cluster goes on without it.
func applyControlPlane(ctx context.Context, in *step.Input) (any, error) {
	var spec ControlPlaneSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	p := controlPlane{spec, session, in}
	why := hoststep.Unprepared(in)
	if why == nil {
		if why = p.serve(ctx); why == nil {
			return p.ready(ctx)
		}
	}
	if ctx.Err() != nil || !hoststep.IsTheHosts(why, spec.Host) || p.survey(ctx).serving() == "" {
		return nil, why
	}
	// No kubelet may be newer than any API server: workers wait.
	if _, due, err := releaseOf(ctx, session, spec); err != nil || due {
		return nil, errors.Join(why, err)
	}
	return step.Quarantined(spec.Host, why), nil
}

// serve makes the host a member, if it is none, and its API server run.
func (p controlPlane) serve(ctx context.Context) error {
	if err := p.forgotten(ctx); err != nil {
		return err
	}
	if err := hostsOrNot(play(ctx, p.in, p.session, playbook.KubernetesNode, p.spec.Host, p.spec.Node, nil)); err != nil {
		return err
	}
	plane := on(p.in, p.session, p.spec.Host)
	member, err := isMember(ctx, p.session, p.spec.Host)
	if err != nil {
		return err
	}
	if member {
		if err := plane.RenewCertificates(ctx, apiLimit); err != nil {
			return fmt.Errorf("%s: %w", p.spec.Host, err)
		}
		if err := saveBeforeUpgrade(ctx, p.in, p.session, p.spec); err != nil {
			return fmt.Errorf("%s: %w", p.spec.Host, err)
		}
		err = p.run(ctx, nil)
	} else {
		err = p.enter(ctx)
	}
	if err != nil {
		return err
	}
	if err := plane.WaitUp(ctx, apiLimit); err != nil {
		return fmt.Errorf("%s: %w", p.spec.Host, err)
	}
	if err := plane.WaitRelease(ctx, p.spec.Host, p.spec.Version, readyLimit); err != nil {
		return fmt.Errorf("%s: %w", p.spec.Host, err)
	}
	if err := letServe(ctx, plane, p.session, p.spec.Host); err != nil {
		return fmt.Errorf("%s: %w", p.spec.Host, err)
	}
	// An upgrade renews those of daemons, too, that it leaves running.
	if err := plane.RenewCertificates(ctx, apiLimit); err != nil {
		return fmt.Errorf("%s: %w", p.spec.Host, err)
	}
	return nil
}

// ready is the outcome. Renewed certificates give another one, so that the
// kubeconfig is read anew.
func (p controlPlane) ready(ctx context.Context) (any, error) {
	certificates, err := on(p.in, p.session, p.spec.Host).Certificates(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.spec.Host, err)
	}
	return step.Ready(p.spec.Host, "serves the API of "+p.spec.Version+"; its certificates end on "+certificates.Ends(false).UTC().Format("2006-01-02 15:04")), nil
}

// run runs the playbook with what is known only now.
func (p controlPlane) run(ctx context.Context, now map[string]any, secrets ...map[string]any) error {
	vars := map[string]any{}
	for _, given := range []map[string]any{p.spec.Vars, now} {
		for name, value := range given {
			vars[name] = value
		}
	}
	var secret map[string]any
	for _, given := range secrets {
		secret = given
	}
	return hostsOrNot(play(ctx, p.in, p.session, playbook.KubernetesControlPlane, p.spec.Host, vars, secret))
}

// enter has the cluster begin on the host, or the host join the one that there is.
func (p controlPlane) enter(ctx context.Context) error {
	others := p.survey(ctx)
	if by := others.serving(); by != "" {
		return p.join(ctx, by)
	}
	if p.spec.Host != p.spec.ControlPlanes[0] {
		return hoststep.NotTheHosts{Err: fmt.Errorf("no control plane serves the API, so %s cannot join: %w", p.spec.Host, others.problems())}
	}
	// A second cluster under the same name would be worse than none.
	if err := others.problems(); err != nil {
		return hoststep.NotTheHosts{Err: fmt.Errorf("nobody can tell whether the cluster exists, so it was not begun on %s: mend the other control planes and run it again: %w", p.spec.Host, err)}
	}
	return p.run(ctx, map[string]any{"kubernetes_control_plane_begins": true})
}

// join lets the host in through a control plane that works. What the host may
// have been before is forgotten first, and so is every member of etcd that will
// not come back: each counts for the majority.
func (p controlPlane) join(ctx context.Context, by string) error {
	cluster := on(p.in, p.session, by)
	if err := p.makeRoom(ctx, by); err != nil {
		return hoststep.NotTheHosts{Err: err}
	}
	authorities, err := cluster.Authorities(ctx)
	if err != nil {
		return hoststep.NotTheHosts{Err: err}
	}
	return letIn(ctx, cluster, p.spec.Endpoint, func(discovery string) error {
		return p.run(ctx, map[string]any{"kubernetes_control_plane_replaces": true}, map[string]any{
			"kubernetes_control_plane_discovery":    discovery,
			"kubernetes_control_plane_certificates": authorities,
		})
	})
}

// probeControlPlane looks at the daemons, at the certificates' ends, and asks the
// host's own API server.
func probeControlPlane(ctx context.Context, in *step.Input) error {
	var spec ControlPlaneSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := hoststep.Active(ctx, session, spec.Host, daemons(spec.Endpoint)...); err != nil {
		return err
	}
	plane := on(in, session, spec.Host)
	certificates, err := plane.Certificates(ctx)
	if err != nil {
		return err
	}
	if problem := certificates.Problem(); problem != "" {
		return fmt.Errorf("%s: %s", spec.Host, problem)
	}
	if err := plane.Up(ctx); err != nil {
		return errors.Join(fmt.Errorf("%s does not serve the API", spec.Host), err)
	}
	// kubeadm gives the cluster its DNS, and the first control plane's role looks after it.
	if len(spec.ControlPlanes) > 0 && spec.Host == spec.ControlPlanes[0] {
		if err := plane.HasDNS(ctx); err != nil {
			return err
		}
	}
	return probeServing(ctx, plane, spec.Host)
}

// daemons are the units that a member runs.
func daemons(endpoint string) []string {
	units := []string{"containerd", "kubelet"}
	if (kubeconf.Cluster{Endpoint: endpoint}).Balanced() {
		units = append(units, kubeconf.BalancerUnit)
	}
	return units
}

// isMember tells whether kubeadm has come to its end on a host.
func isMember(ctx context.Context, session *remote.Session, host string) (bool, error) {
	out, err := session.Run(ctx, host, `[ ! -e /etc/kubernetes/kubelet.conf ] || ! grep -q '"done": true' /var/lib/gpucluster/kubernetes.json || echo member`, nil)
	return out != "", err
}
