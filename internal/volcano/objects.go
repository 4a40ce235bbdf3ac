package volcano

import (
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// Objects are what the API server is given, in an order in which each finds what it
// refers to. Those of Volcano's kinds need its definitions, and its webhooks to
// answer. It fails with [problem.List].
func Objects(c queues.Cluster) ([]kubeobject.Object, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	out := fabric(c)
	for _, p := range c.PriorityClasses {
		value := p.Value
		out = append(out, kubeobject.Object{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass",
			Metadata: kubeobject.Meta{Name: p.Name, Labels: kubeobject.Labels()}, Value: &value, Description: p.Description})
	}
	names, total := cohorts(c)
	for _, name := range names {
		out = append(out, cohortQueue(name, total[name]))
	}
	if len(c.Teams) > 0 {
		out = append(out, role())
		out = append(out, queues.VolcanoPolicy()...)
	}
	for _, team := range c.Teams {
		holds, people := c.Tenant(team, queues.QueueVolcano)
		out = append(out, holds...)
		out = append(out, teamQueue(c, team, total))
		// People come last, when everything that holds them is there.
		out = append(out, people...)
	}
	return out, nil
}

// role lets people of teams make Volcano's jobs in their namespaces. Queues are not
// theirs.
func role() kubeobject.Object {
	all := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	return kubeobject.Object{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole",
		Metadata: kubeobject.Meta{Name: queues.VolcanoRole, Labels: kubeobject.Labels()},
		Rules: []kubeobject.Rule{
			{APIGroups: []string{"batch.volcano.sh"}, Resources: []string{"jobs", "cronjobs"}, Verbs: all},
			{APIGroups: []string{"scheduling.volcano.sh"}, Resources: []string{"podgroups"}, Verbs: all},
			{APIGroups: []string{"bus.volcano.sh"}, Resources: []string{"commands"}, Verbs: all},
		}}
}

// Namespace is Volcano's, which has to be there before its chart.
func Namespace() kubeobject.Object {
	return kubeobject.Namespace(ManagerNamespace, kubeobject.Baseline)
}
