package topology

import (
	"sort"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Text writes the pruned tree as the lines of Slurm's topology.conf, leaves
// first, then each level above, by name within a level. Without any node it is
// empty: Slurm must then run without a topology plugin.
func Text(switches []Switch) string {
	pruned := Prune(switches)
	height := heights(pruned)
	sort.SliceStable(pruned, func(i, j int) bool {
		a, b := pruned[i].Name, pruned[j].Name
		if height[a] != height[b] {
			return height[a] < height[b]
		}
		return hostlist.Less(a, b)
	})
	var b strings.Builder
	for _, s := range pruned {
		b.WriteString("SwitchName=" + s.Name)
		if len(s.Nodes) > 0 {
			b.WriteString(" Nodes=" + hostlist.Compress(s.Nodes))
		} else {
			b.WriteString(" Switches=" + hostlist.Compress(s.Switches))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// heights maps each switch to its distance from the leaves below it.
func heights(switches []Switch) map[string]int {
	byName := make(map[string]Switch, len(switches))
	for _, s := range switches {
		byName[s.Name] = s
	}
	known := make(map[string]int, len(switches))
	var of func(name string, depth int) int
	of = func(name string, depth int) int {
		h, ok := known[name]
		if ok || depth > MaxDepth {
			return h
		}
		for _, child := range byName[name].Switches {
			h = max(h, of(child, depth+1)+1)
		}
		known[name] = h
		return h
	}
	for _, s := range switches {
		of(s.Name, 0)
	}
	return known
}
