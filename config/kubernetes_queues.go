package config

import (
	"maps"
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// KubernetesQueues is what the environment says of its queues and teams, as
// their objects are made from. The environment has a kubernetes section and is
// valid.
func (e *Environment) KubernetesQueues() queues.Cluster {
	facts := e.KubernetesCluster()
	cluster := queues.Cluster{ControlPlanes: len(facts.ControlPlanes), Preemption: queuePreemption(facts.Preemption)}
	if m := e.Kubernetes.Monitoring; m != nil {
		cluster.ServiceMonitors = m.ServiceMonitors
	}
	for _, node := range facts.Workers {
		worker := queues.Worker{Name: node.Name, GPUType: node.GPUType, Switches: node.Switches}
		for _, taint := range node.Taints {
			worker.Taints = append(worker.Taints, queues.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)})
		}
		cluster.Workers = append(cluster.Workers, worker)
	}
	for _, team := range facts.Teams {
		cluster.Teams = append(cluster.Teams, e.queueTeam(team))
	}
	for _, class := range facts.PriorityClasses {
		cluster.PriorityClasses = append(cluster.PriorityClasses, queues.PriorityClass(class))
	}
	return cluster
}

// queueTeam resolves a team's ids. Its groups are those by which it is defined, and
// its people's own: not the further groups of one of them, which the others
// would get by it.
func (e *Environment) queueTeam(team KubernetesTeam) queues.Team {
	out := queues.Team{
		Name: team.Name, Namespace: team.Namespace, Users: team.Users, Groups: team.Groups,
		Cohort: team.Cohort, Weight: team.Weight,
	}
	groups := slices.Clone(team.Groups)
	for _, user := range team.People {
		out.UIDs = append(out.UIDs, user.UID)
		groups = append(groups, user.Group)
	}
	if e.Identity != nil {
		for _, group := range e.Identity.Groups {
			if slices.Contains(groups, group.Name) {
				out.GIDs = append(out.GIDs, group.GID)
			}
		}
	}
	for _, gpu := range slices.Sorted(maps.Keys(team.GPUs)) {
		quota := team.GPUs[gpu]
		out.Quotas = append(out.Quotas, queues.Quota{GPUType: gpu, Nominal: quota.Nominal, Borrowing: quota.BorrowingLimit, Lending: quota.LendingLimit})
	}
	return out
}

// Kueue's words for those of an environment.
var (
	kueueWithinTeam = map[TeamPreemption]string{
		TeamPreemptNever: "Never", TeamPreemptLower: "LowerPriority", TeamPreemptLowerOrNewer: "LowerOrNewerEqualPriority",
	}
	kueueReclaim = map[ReclaimPolicy]string{
		ReclaimNever: "Never", ReclaimLower: "LowerPriority", ReclaimAny: "Any",
	}
)

func queuePreemption(p *QueuePreemption) queues.Preemption {
	if p == nil {
		return queues.Preemption{}
	}
	return queues.Preemption{WithinTeam: kueueWithinTeam[p.WithinTeam], Reclaim: kueueReclaim[p.Reclaim]}
}
