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

// A lab's own server has one release, and the check knows which.
func TestReleaseOfALab(t *testing.T) {
	for minor, patch := range kubernetesPatches {
		env := kubernetesSample()
		env.Kubernetes.Version = minor
		want := []string(nil)
		if patch != artifacts.KubernetesVersion {
			want = []string{"kubernetes.version"}
		}
		if got := paths(env.Validate()); !slices.Equal(got, want) {
			t.Errorf("%s in a lab: problems at %q, want %q", minor, got, want)
		}
		env.Artifacts.Registry, env.Artifacts.Binaries = "http://10.0.0.1:5000", "http://10.0.0.1"
		if got := paths(env.Validate()); len(got) > 0 {
			t.Errorf("%s in a lab with a mirror: problems at %q", minor, got)
		}
	}
	if patch := kubernetesPatches["1.36"]; patch != artifacts.KubernetesVersion {
		t.Errorf("labs have %s, and 1.36 is %s", artifacts.KubernetesVersion, patch)
	}
}
