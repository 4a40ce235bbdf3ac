package kubestep

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// ControlPlaneSpec says what a control plane is.
type ControlPlaneSpec struct {
	// Host by name.
	Host string `json:"host"`
	// First is the control plane on which the cluster begins.
	First string `json:"first"`
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
	if err := play(ctx, in, session, playbook.KubernetesNode, spec.Host, spec.Node, nil); err != nil {
		return nil, err
	}
	run := func(secrets map[string]any) error {
		return play(ctx, in, session, playbook.KubernetesControlPlane, spec.Host, spec.Vars, secrets)
	}
	if spec.Host == spec.First {
		err = run(nil)
	} else {
		err = joinControlPlane(ctx, in, session, spec, run)
	}
	if err != nil {
		return nil, err
	}
	if err := on(in, session, spec.Host).WaitUp(ctx, apiLimit); err != nil {
		return nil, fmt.Errorf("%s: %w", spec.Host, err)
	}
	return step.Ready(spec.Host, "serves the API"), nil
}

// joinControlPlane gives a further control plane what it needs to speak for the
// cluster.
func joinControlPlane(ctx context.Context, in *step.Input, session *remote.Session, spec ControlPlaneSpec, run func(map[string]any) error) error {
	first := on(in, session, spec.First)
	authorities, err := first.Authorities(ctx)
	if err != nil {
		return err
	}
	return letIn(ctx, first, spec.Endpoint, func(discovery string) error {
		return run(map[string]any{
			"kubernetes_control_plane_discovery":    discovery,
			"kubernetes_control_plane_certificates": authorities,
		})
	})
}

func removeControlPlane(ctx context.Context, in *step.Input) error {
	var spec ControlPlaneSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	return hoststep.Unplay(ctx, in, session, playbook.KubernetesRemove, []string{spec.Host}, map[string]any{})
}

// probeControlPlane looks at the daemons and asks the host's own API server.
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
	if err := hoststep.Active(ctx, session, spec.Host, "containerd", "kubelet"); err != nil {
		return err
	}
	if err := on(in, session, spec.Host).Up(ctx); err != nil {
		return errors.Join(fmt.Errorf("%s does not serve the API", spec.Host), err)
	}
	return nil
}
