package topology

import (
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Check reports every problem of a tree, given the names of the cluster's
// nodes. The order is that of the switches, then of the tree as a whole.
func Check(switches []Switch, nodes []string) []Problem {
	if len(switches) == 0 {
		return nil
	}
	c := checker{
		switches: switches,
		index:    map[string]int{},
		parent:   map[string]int{},
		leaf:     map[string]int{},
		known:    make(map[string]bool, len(nodes)),
	}
	for _, n := range nodes {
		c.known[n] = true
	}
	c.names()
	for i := range switches {
		c.one(i)
	}
	c.cycles()
	c.coverage(nodes)
	c.roots()
	return c.problems
}

type checker struct {
	switches []Switch
	index    map[string]int // switch name to its index
	parent   map[string]int // switch name to the index of what lists it
	leaf     map[string]int // node name to the index of its leaf
	known    map[string]bool
	problems []Problem
	cyclic   bool
}

func (c *checker) report(i int, field, hint, format string, args ...any) {
	c.problems = append(c.problems, Problem{Switch: i, Field: field, Hint: hint, What: fmt.Sprintf(format, args...)})
}

func (c *checker) advise(i int, field, hint, format string, args ...any) {
	c.report(i, field, hint, format, args...)
	c.problems[len(c.problems)-1].Severity = Advice
}

func (c *checker) names() {
	for i, s := range c.switches {
		if err := hostlist.Check(s.Name); err != nil {
			hint := "use letters, digits, \"-\" and \"_\""
			if e, ok := err.(*hostlist.Error); ok {
				hint = e.Hint()
				err = fmt.Errorf("%s", e.Kind)
			}
			c.report(i, "name", hint, "switch name %q: %v", s.Name, err)
			continue
		}
		if first, ok := c.index[s.Name]; ok {
			c.report(i, "name", "give every switch its own name", "switch %q is already switches[%d]", s.Name, first)
			continue
		}
		c.index[s.Name] = i
	}
}

func (c *checker) one(i int) {
	s := c.switches[i]
	if len(s.Nodes) > 0 && len(s.Switches) > 0 {
		c.report(i, "switches", "split it into a leaf with the nodes and a switch above it",
			"switch %q has both nodes and switches below it", s.Name)
	}
	for _, n := range s.Nodes {
		if !c.known[n] {
			c.report(i, "nodes", "name compute hosts of this cluster", "switch %q names %q, which is not a node", s.Name, n)
			continue
		}
		if at, ok := c.leaf[n]; ok {
			c.report(i, "nodes", "a node hangs under one leaf", "node %q is already under %q", n, c.switches[at].Name)
			continue
		}
		c.leaf[n] = i
	}
	for _, child := range s.Switches {
		switch _, ok := c.index[child]; {
		case child == s.Name:
			c.report(i, "switches", "name the switches below it", "switch %q is below itself", s.Name)
			c.cyclic = true
			continue
		case !ok:
			c.report(i, "switches", "add that switch or correct the name"+nearest(child, c.index),
				"switch %q names %q, which is not a switch", s.Name, child)
			continue
		}
		if at, ok := c.parent[child]; ok {
			c.report(i, "switches", "keep one switch above each; a fat tree's spines are one top switch to Slurm",
				"switch %q is already below %q", child, c.switches[at].Name)
			continue
		}
		c.parent[child] = i
	}
}

// cycles follows the one parent of each switch upwards, and measures how many
// levels it is below the top.
func (c *checker) cycles() {
	const onPath = -1
	depth := make([]int, len(c.switches)) // 0: not known yet
	for i := range c.switches {
		var path []int
		at := i
		for depth[at] == 0 {
			depth[at] = onPath
			path = append(path, at)
			up, ok := c.parent[c.switches[at].Name]
			if !ok {
				break
			}
			at = up
		}
		if depth[at] == onPath && at != path[len(path)-1] {
			c.report(at, "switches", "the switches must form a tree", "switch %q is below itself", c.switches[at].Name)
			c.cyclic = true
		}
		above := max(depth[at], 0)
		for k := len(path) - 1; k >= 0; k-- {
			above++
			depth[path[k]] = above
		}
		if depth[i] > MaxDepth && !c.cyclic {
			c.report(i, "name", fmt.Sprintf("use at most %d levels", MaxDepth), "switch %q is %d levels below the top", c.switches[i].Name, depth[i])
		}
	}
}

func (c *checker) coverage(nodes []string) {
	var orphans []string
	for _, n := range nodes {
		if _, ok := c.leaf[n]; !ok {
			orphans = append(orphans, n)
		}
	}
	if len(orphans) == len(nodes) {
		c.report(-1, "", "name the nodes under leaf switches, or leave the topology out", "no node is under any switch")
	} else if len(orphans) > 0 {
		c.report(-1, "", "add them to a leaf: a node without one never shares a job with others",
			"under no switch: %s", hostlist.Compress(orphans))
	}
}

// roots gives advice on a tree that has no errors.
func (c *checker) roots() {
	if len(c.problems) > 0 {
		return
	}
	var roots []string
	for _, s := range Prune(c.switches) {
		if _, ok := c.parent[s.Name]; !ok {
			roots = append(roots, s.Name)
		}
	}
	if len(roots) > 1 {
		c.advise(-1, "", "add one switch above them, unless the fabrics are really apart",
			"no single top switch: jobs cannot span %s", strings.Join(roots, ", "))
	}
}

// nearest is a hint about a name in index that differs from name by its case
// or by one character, or nothing.
func nearest(name string, index map[string]int) string {
	best := ""
	for known := range index {
		if strings.EqualFold(known, name) || oneApart(known, name) {
			if best == "" || known < best {
				best = known
			}
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// oneApart tells whether a becomes b by changing, adding or dropping one byte.
func oneApart(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) == len(b) {
		return i < len(a) && a[i+1:] == b[i+1:]
	}
	return a[i:] == b[i+1:]
}
