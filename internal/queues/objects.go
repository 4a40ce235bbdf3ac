package queues

import "github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"

// Objects are what the API server is given, in an order in which each finds what
// it refers to. Those of Kueue's kinds need Kueue's definitions, and its webhooks
// to answer. It fails with [problem.List].
func Objects(c Cluster) ([]Object, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	c = c.withDefaults()
	var out []Object
	topology := ""
	if levels := c.levels(); levels > 0 {
		topology = topologyName
		out = append(out, topologyObject(levels))
	}
	for _, gpu := range c.gpus() {
		out = append(out, c.flavor(gpu, topology))
	}
	for _, p := range c.PriorityClasses {
		out = append(out, p.object())
	}
	if len(c.Teams) > 0 {
		out = append(out, queuePolicy()...)
	}
	for _, team := range c.Teams {
		holds, people := c.Tenant(team, QueueKueue)
		out = append(out, holds...)
		out = append(out, c.clusterQueue(team), team.localQueue())
		// People come last, when everything that holds them is there.
		out = append(out, people...)
	}
	return out, nil
}

// labels are on each object.
func labels(of ...string) map[string]string { return kubeobject.Labels(of...) }

// Tenant is what a team is, whatever queues its jobs: its namespace and what holds
// it, and what lets its people in, which comes after everything else of the team.
func (c Cluster) Tenant(t Team, by Authority) (holds, people []Object) {
	holds = append([]Object{t.namespace(by)}, c.idPolicy(t)...)
	return append(holds, t.claims()), t.bindings(by)
}
