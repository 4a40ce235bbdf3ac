package volcano

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/problem"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// Words of Kueue for what a cluster says, and which of them Volcano can follow.
const (
	preemptNever  = "Never"
	preemptLower  = "LowerPriority"
	reclaimNever  = "Never"
	reclaimAny    = "Any"
	defaultQueue  = "default"
	mostNameChars = 253
)

var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// Check reports everything that is wrong with a cluster, and what Volcano cannot
// express.
func Check(c queues.Cluster) problem.List {
	r := &problem.Report{Problems: queues.Check(c)}
	types := map[string]bool{}
	for i, w := range c.Workers {
		if w.GPUType != "" {
			types[w.GPUType] = true
		}
		for j, name := range w.Switches {
			if !subdomain.MatchString(name) || len(name) > mostNameChars {
				r.Add(fmt.Sprintf("workers[%d].switches[%d]", i, j), "lower-case letters, digits and inner hyphens", "%q cannot name a HyperNode", name)
			}
		}
	}
	if len(types) > 1 {
		r.Add("workers", "", "Volcano counts GPUs of all types together, and there are %d types", len(types))
	}
	if p := c.Preemption.WithinTeam; p != "" && p != preemptNever && p != preemptLower {
		r.Add("preemption.withinTeam", "write "+preemptNever+" or "+preemptLower, "Volcano displaces by priority alone")
	}
	if p := c.Preemption.Reclaim; p != "" && p != reclaimNever && p != reclaimAny {
		r.Add("preemption.reclaim", "write "+reclaimNever+" or "+reclaimAny, "Volcano reclaims whatever the priority")
	}
	names, _ := cohorts(c)
	for i, t := range c.Teams {
		path := fmt.Sprintf("teams[%d]", i)
		if t.Name == rootQueue || t.Name == defaultQueue {
			r.Add(path+".name", "choose another name", "the queue %s is Volcano's own", t.Name)
		}
		if t.Cohort == rootQueue || t.Cohort == defaultQueue {
			r.Add(path+".cohort", "choose another name", "the queue %s is Volcano's own", t.Cohort)
		}
		if slices.Contains(names, t.Name) {
			r.Add(path+".name", "choose another name", "%s is a cohort too, and both are queues", t.Name)
		}
		if t.Namespace == ManagerNamespace {
			r.Add(path+".namespace", "choose another namespace", "%s is Volcano's", t.Namespace)
		}
		if t.Weight > 1 {
			r.Add(path+".weight", "", "Volcano gives what is lent to who comes first")
		}
	}
	return r.Problems
}
