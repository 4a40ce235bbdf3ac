package kueue

import (
	"maps"
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// asCluster is what an environment says, as the queues' renderer takes it.
func asCluster(env *config.Environment) queues.Cluster {
	facts := env.KubernetesCluster()
	cluster := queues.Cluster{ControlPlanes: len(facts.ControlPlanes), Preemption: asPreemption(facts.Preemption)}
	for _, node := range facts.Workers {
		worker := queues.Worker{Name: node.Name, GPUType: node.GPUType, Switches: node.Switches}
		for _, taint := range node.Taints {
			worker.Taints = append(worker.Taints, queues.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)})
		}
		cluster.Workers = append(cluster.Workers, worker)
	}
	for _, team := range facts.Teams {
		cluster.Teams = append(cluster.Teams, asTeam(env, team))
	}
	for _, class := range facts.PriorityClasses {
		cluster.PriorityClasses = append(cluster.PriorityClasses, queues.PriorityClass(class))
	}
	return cluster
}

// asTeam resolves a team's ids. Its groups are those by which it is defined, and
// its people's own: not the further groups of one of them, which the others
// would get by it.
func asTeam(env *config.Environment, team config.KubernetesTeam) queues.Team {
	out := queues.Team{
		Name: team.Name, Namespace: team.Namespace, Users: team.Users, Groups: team.Groups,
		Cohort: team.Cohort, Weight: team.Weight,
	}
	groups := slices.Clone(team.Groups)
	for _, user := range team.People {
		out.UIDs = append(out.UIDs, user.UID)
		groups = append(groups, user.Group)
	}
	if env.Identity != nil {
		for _, group := range env.Identity.Groups {
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
	withinTeam = map[config.TeamPreemption]string{
		config.TeamPreemptNever: "Never", config.TeamPreemptLower: "LowerPriority", config.TeamPreemptLowerOrNewer: "LowerOrNewerEqualPriority",
	}
	reclaim = map[config.ReclaimPolicy]string{
		config.ReclaimNever: "Never", config.ReclaimLower: "LowerPriority", config.ReclaimAny: "Any",
	}
)

func asPreemption(p *config.QueuePreemption) queues.Preemption {
	if p == nil {
		return queues.Preemption{}
	}
	return queues.Preemption{WithinTeam: withinTeam[p.WithinTeam], Reclaim: reclaim[p.Reclaim]}
}
