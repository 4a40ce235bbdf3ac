package kubestep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// system are the namespaces whose pods are the cluster's own.
var system = []string{kubectl.Namespace, "kube-system", "kube-public", "kube-node-lease", "kube-flannel", "kueue-system", "volcano-system", "jobset-system", "lws-system", "gpu-operator"}

// GuardSpec says whose pods are guarded.
type GuardSpec struct {
	// ControlPlanes by name.
	ControlPlanes []string `json:"controlPlanes"`
	// Lab tells that the hosts are containers on the deployer: one that cannot be
	// reached is gone.
	Lab bool `json:"lab,omitempty"`
}

// GuardResult says that the guard stands.
type GuardResult struct {
	// Guarded is always true.
	Guarded bool `json:"guarded"`
}

func applyGuard(ctx context.Context, in *step.Input) (any, error) {
	var spec GuardSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return GuardResult{Guarded: true}, markGoing(ctx, session, spec.ControlPlanes, false)
}

// removeGuard is the first thing that a destruction does: it refuses while there
// are pods of people, and while nobody can tell. Only a lab whose control planes
// are gone has none to lose.
func removeGuard(ctx context.Context, in *step.Input) error {
	var spec GuardSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	if hoststep.Overridden() {
		in.Logf("%s=yes: pods are not waited for", hoststep.OverrideVariable)
		return nil
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	host, err := hoststep.FirstThere(ctx, session, spec.ControlPlanes)
	if err != nil || host == "" && !spec.Lab {
		return errors.Join(fmt.Errorf("%s cannot be asked whether pods run, and nothing was removed: mend the way there and run it again, or destroy all pods with the cluster by setting %s=yes",
			strings.Join(spec.ControlPlanes, ", "), hoststep.OverrideVariable), err)
	}
	if host == "" {
		in.Logf("no pods are asked about: %s is gone", strings.Join(spec.ControlPlanes, ", "))
		return nil
	}
	cluster, err := client(ctx, in, session, spec.ControlPlanes)
	if err != nil {
		return err
	}
	pods, err := cluster.Pods(ctx)
	if err != nil {
		return fmt.Errorf("nobody can tell whether pods run, and nothing was removed: %w\nmake the API server answer and run it again, or destroy all pods with the cluster by setting %s=yes", err, hoststep.OverrideVariable)
	}
	var left []string
	for _, pod := range pods {
		if !pod.Ended() && !slices.Contains(system, pod.Namespace) {
			left = append(left, fmt.Sprintf("%s/%s, %s on %s", pod.Namespace, pod.Name, pod.Phase, pod.Node))
		}
	}
	if len(left) == 0 {
		return markGoing(ctx, session, spec.ControlPlanes, true)
	}
	return fmt.Errorf("pods are on the cluster (%d), and nothing was removed:\n  %s\nwait for them, delete them, or destroy them with the cluster by setting %s=yes",
		len(left), strings.Join(left, "\n  "), hoststep.OverrideVariable)
}
