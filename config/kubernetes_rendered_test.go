package config

import (
	"slices"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// checkRendered checks that what makes files of hosts and objects of queues
// refuses nothing that the check of a file has let pass.
func checkRendered(t *testing.T, env *Environment) {
	t.Helper()
	cluster := env.KubernetesCluster()
	for _, p := range kubeconf.Check(env.KubernetesFiles()) {
		t.Errorf("loaded, but refused for the hosts: %v", p)
	}
	if cluster.Queueing != QueueingKueue {
		return
	}
	for _, p := range queues.Check(env.KubernetesQueues()) {
		t.Errorf("loaded, but refused for the queues: %v", p)
	}
}

// A lab's own server has each release that a file may ask for.
func TestReleasesOfALab(t *testing.T) {
	for minor, patch := range kubernetesPatches {
		if !slices.ContainsFunc(artifacts.Lab.Binaries, func(b artifacts.Binary) bool { return b.Version == patch }) {
			t.Errorf("labs have no %s, which is %s", patch, minor)
		}
		env := kubernetesSample()
		env.Kubernetes.Version = minor
		if got := paths(env.Validate()); len(got) > 0 {
			t.Errorf("%s in a lab: problems at %q", minor, got)
		}
	}
	if patch := kubernetesPatches["1.36"]; patch != artifacts.KubernetesVersion {
		t.Errorf("labs usually have %s, and 1.36 is %s", artifacts.KubernetesVersion, patch)
	}
}
