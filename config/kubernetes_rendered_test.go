package config

import (
	"maps"
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
	for _, p := range queues.Check(asQueues(cluster)) {
		t.Errorf("loaded, but refused for the queues: %v", p)
	}
}

// asQueues is a cluster as the renderer of Kueue's objects takes it.
func asQueues(c KubernetesCluster) queues.Cluster {
	out := queues.Cluster{ControlPlanes: len(c.ControlPlanes)}
	for _, n := range c.Workers {
		worker := queues.Worker{Name: n.Name, GPUType: n.GPUType, Switches: n.Switches}
		for _, t := range n.Taints {
			worker.Taints = append(worker.Taints, queues.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)})
		}
		out.Workers = append(out.Workers, worker)
	}
	for _, t := range c.Teams {
		team := queues.Team{Name: t.Name, Namespace: t.Namespace, Users: t.Users, Groups: t.Groups, Cohort: t.Cohort, Weight: t.Weight}
		for _, user := range t.People {
			team.UIDs = append(team.UIDs, user.UID)
		}
		for _, kind := range slices.Sorted(maps.Keys(t.GPUs)) {
			quota := t.GPUs[kind]
			team.Quotas = append(team.Quotas, queues.Quota{GPUType: kind, Nominal: quota.Nominal, Borrowing: quota.BorrowingLimit, Lending: quota.LendingLimit})
		}
		out.Teams = append(out.Teams, team)
	}
	for _, p := range c.PriorityClasses {
		out.PriorityClasses = append(out.PriorityClasses, queues.PriorityClass{Name: p.Name, Value: p.Value, Description: p.Description})
	}
	return out
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
