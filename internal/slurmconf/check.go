package slurmconf

import (
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// Check reports every problem of a cluster at once, in the order of its fields.
func Check(c Cluster) Problems {
	var r report
	checkIdentity(&r, c)
	checkPaths(&r, c)
	checkAccounting(&r, c)
	nodes := checkNodes(&r, c)
	sets := checkNodeSets(&r, c, nodes)
	checkPartitions(&r, c, nodes, sets)
	checkTopology(&r, c)
	checkPriority(&r, c)
	checkPreemption(&r, c)
	checkPrivateTmp(&r, c)
	checkHealth(&r, c)
	checkPlugins(&r, c)
	checkDetection(&r, c)
	checkMPI(&r, c)
	checkExtra(&r, c)
	return r.problems
}

func checkTopology(r *report, c Cluster) {
	names := make([]string, len(c.Nodes))
	for i := range c.Nodes {
		names[i] = c.Nodes[i].Name
	}
	for _, p := range topology.Check(c.Topology, names) {
		path := "topology"
		if p.Switch >= 0 {
			path = fmt.Sprintf("topology[%d]", p.Switch)
		}
		if p.Field != "" {
			path += "." + p.Field
		}
		r.problems = append(r.problems, Problem{
			Path: path, File: "topology.conf", What: p.What, Hint: p.Hint, Severity: Severity(p.Severity),
		})
	}
}
