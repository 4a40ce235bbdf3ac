package volcano

import (
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// HyperNodeSpec is a switch with what is below it.
type HyperNodeSpec struct {
	// Tier is 1 for a switch with hosts, and one more than the highest below it for
	// the others: the lower the tier, the nearer its hosts are to each other.
	Tier    int      `json:"tier"`
	Members []Member `json:"members"`
}

// Member is a set of nodes, or a switch, below a switch.
type Member struct {
	Type     string         `json:"type"`
	Selector MemberSelector `json:"selector"`
}

// MemberSelector names a switch, or chooses nodes by their labels, so that a host
// that joins changes no object.
type MemberSelector struct {
	ExactMatch *ExactMatch          `json:"exactMatch,omitempty"`
	LabelMatch *kubeobject.Selector `json:"labelMatch,omitempty"`
}

// ExactMatch names a switch.
type ExactMatch struct {
	Name string `json:"name"`
}

// fabric are the switches, those with hosts first.
func fabric(c queues.Cluster) []kubeobject.Object {
	below := map[string][]string{} // switches, by the one above
	level := map[string]int{}      // of switches with hosts, from the top
	var names []string
	add := func(list []string, name string) []string {
		if slices.Contains(list, name) {
			return list
		}
		return append(list, name)
	}
	for _, w := range c.Workers {
		for i, name := range w.Switches {
			names = add(names, name)
			if i > 0 {
				below[w.Switches[i-1]] = add(below[w.Switches[i-1]], name)
			}
			if i == len(w.Switches)-1 {
				level[name] = i
			}
		}
	}
	var tier func(name string) int
	tier = func(name string) int {
		most := 0
		for _, inner := range below[name] {
			most = max(most, tier(inner))
		}
		return most + 1
	}
	slices.SortFunc(names, func(a, b string) int {
		if t := tier(a) - tier(b); t != 0 {
			return t
		}
		return strings.Compare(a, b)
	})
	var out []kubeobject.Object
	for _, name := range names {
		spec := HyperNodeSpec{Tier: tier(name)}
		if at, hosts := level[name]; hosts {
			spec.Members = append(spec.Members, Member{"Node", MemberSelector{LabelMatch: &kubeobject.Selector{MatchLabels: map[string]string{queues.SwitchLabel(at): name}}}})
		}
		slices.Sort(below[name])
		for _, inner := range below[name] {
			spec.Members = append(spec.Members, Member{"HyperNode", MemberSelector{ExactMatch: &ExactMatch{inner}}})
		}
		out = append(out, kubeobject.Object{APIVersion: topologyAPI, Kind: "HyperNode", Metadata: kubeobject.Meta{Name: name, Labels: kubeobject.Labels()}, Spec: spec})
	}
	return out
}
