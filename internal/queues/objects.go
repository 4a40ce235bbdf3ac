package queues

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
		out = append(out, team.namespace())
		out = append(out, c.idPolicy(team)...)
		out = append(out, team.claims(), c.clusterQueue(team), team.localQueue())
		// People come last, when everything that holds them is there.
		out = append(out, team.bindings()...)
	}
	return out, nil
}

// labels are on each object.
func labels(of ...string) map[string]string {
	m := map[string]string{"app.kubernetes.io/managed-by": "gpucluster"}
	for i := 0; i < len(of); i += 2 {
		m[of[i]] = of[i+1]
	}
	return m
}
