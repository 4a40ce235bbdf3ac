package config

import (
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// volcanoQueues are Volcano's own.
var volcanoQueues = []string{"root", "default"}

// volcano checks what Volcano cannot express, or calls otherwise: teams and cohorts
// are queues of one list, and switches are objects.
func (v *validator) volcano(k *Kubernetes) {
	var cohorts []string
	for _, team := range k.Teams {
		cohorts = append(cohorts, team.Cohort)
	}
	for i, team := range k.Teams {
		path := strictyaml.Item("kubernetes.teams", i)
		if team.Weight > defaultTeamWeight && !v.isBroken(path+".weight") {
			v.add(KindConflict, path+".weight", "remove it, or write queueing: kueue", "Volcano gives what is lent to who comes first")
		}
		for _, named := range []struct{ key, name string }{{".name", team.Name}, {".cohort", team.Cohort}} {
			if slices.Contains(volcanoQueues, named.name) {
				v.addf(KindCollision, path+named.key, "choose another name", "the queue %s is Volcano's own", named.name)
			}
		}
		if team.Name != "" && slices.Contains(cohorts, team.Name) {
			v.addf(KindCollision, path+".name", "choose another name for one of them", "%s is a cohort too, and both are queues of Volcano", team.Name)
		}
	}
	if v.env.Topology == nil || v.isBroken("topology") {
		return
	}
	for i, s := range v.env.Topology.Switches {
		if labelName.MatchString(s.Name) && !dnsSubdomain.MatchString(s.Name) {
			v.addf(KindInvalid, strictyaml.Item("topology.switches", i)+".name", "lower-case letters, digits and inner hyphens", "%q cannot name a HyperNode of Volcano", s.Name)
		}
	}
}
