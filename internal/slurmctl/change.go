package slurmctl

import (
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// NodeSpec is a node as the new slurm.conf describes it.
type NodeSpec struct {
	// Name in slurm.conf.
	Name string
	// Addr is its NodeAddr; empty when the name must resolve.
	Addr string
	// CPUs, Sockets (of all boards), Cores in a socket, Threads in a core, and
	// RealMemory in MiB.
	CPUs, Sockets, Cores, Threads int
	RealMemory                    int64
	// Gres that it has.
	Gres []Gres
}

// Reshaped is a node whose description changes in a way that makes slurmctld
// abort its jobs, or leaves them with resources that no longer exist.
type Reshaped struct {
	// Name of the node.
	Name string `json:"name"`
	// What changes, for example "Gres gpu:h100:8 -> gpu:h100:4".
	What []string `json:"what"`
}

// Change is what an activation does to the set of nodes. Names are sorted.
type Change struct {
	Added    []string   `json:"added,omitempty"`
	Removed  []string   `json:"removed,omitempty"`
	Reshaped []Reshaped `json:"reshaped,omitempty"`
}

// Empty tells whether the set of nodes stays as it is.
func (c Change) Empty() bool {
	return len(c.Added) == 0 && len(c.Removed) == 0 && len(c.Reshaped) == 0
}

// Busy are the names of the nodes that must be free of jobs before the change.
func (c Change) Busy() []string {
	names := append([]string{}, c.Removed...)
	for _, r := range c.Reshaped {
		names = append(names, r.Name)
	}
	hostlist.Sort(names)
	return names
}

// ReshapedNames are the names of the nodes that change their shape.
func (c Change) ReshapedNames() []string {
	var names []string
	for _, r := range c.Reshaped {
		names = append(names, r.Name)
	}
	return names
}

// String writes the change in one line.
func (c Change) String() string {
	var parts []string
	add := func(what string, names []string) {
		if len(names) > 0 {
			parts = append(parts, what+" "+hostlist.Compress(names))
		}
	}
	add("new", c.Added)
	add("without", c.Removed)
	add("another shape of", c.ReshapedNames())
	if len(parts) == 0 {
		return "the same nodes"
	}
	return strings.Join(parts, ", ")
}

// CompareNodes says what changes between the nodes that slurmctld knows and
// the new ones. More memory is no change of shape: nothing that runs loses any.
func CompareNodes(live []Node, desired []NodeSpec) Change {
	var c Change
	known := make(map[string]Node, len(live))
	for _, n := range live {
		known[n.Name] = n
	}
	wanted := make(map[string]bool, len(desired))
	for _, d := range desired {
		wanted[d.Name] = true
		n, ok := known[d.Name]
		if !ok {
			c.Added = append(c.Added, d.Name)
			continue
		}
		if what := differences(n, d); len(what) > 0 {
			c.Reshaped = append(c.Reshaped, Reshaped{Name: d.Name, What: what})
		}
	}
	for _, n := range live {
		if !wanted[n.Name] {
			c.Removed = append(c.Removed, n.Name)
		}
	}
	hostlist.Sort(c.Added)
	hostlist.Sort(c.Removed)
	sortReshaped(c.Reshaped)
	return c
}

// with adds what changes of nodes that stay, by name, which the live ones
// cannot tell.
func (c Change) with(what map[string][]string, live []Node) Change {
	known := map[string]bool{}
	for _, r := range c.Reshaped {
		known[r.Name] = true
	}
	for _, n := range live {
		if len(what[n.Name]) > 0 && !known[n.Name] && !overlap([]string{n.Name}, c.Removed) {
			c.Reshaped = append(c.Reshaped, Reshaped{Name: n.Name, What: what[n.Name]})
		}
	}
	sortReshaped(c.Reshaped)
	return c
}

func differences(n Node, d NodeSpec) []string {
	var what []string
	for _, f := range []struct {
		name     string
		from, to int
	}{
		{"CPUs", n.CPUs, d.CPUs}, {"Sockets", n.Sockets, d.Sockets},
		{"CoresPerSocket", n.Cores, d.Cores}, {"ThreadsPerCore", n.Threads, d.Threads},
	} {
		if f.from != f.to {
			what = append(what, fmt.Sprintf("%s %d -> %d", f.name, f.from, f.to))
		}
	}
	if d.RealMemory < n.RealMemory {
		what = append(what, fmt.Sprintf("RealMemory %d -> %d", n.RealMemory, d.RealMemory))
	}
	if from, to := FormatGres(n.Gres), FormatGres(d.Gres); from != to {
		what = append(what, fmt.Sprintf("Gres %s -> %s", orNone(from), orNone(to)))
	}
	return what
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func sortReshaped(all []Reshaped) {
	names := make([]string, len(all))
	by := make(map[string]Reshaped, len(all))
	for i, r := range all {
		names[i], by[r.Name] = r.Name, r
	}
	hostlist.Sort(names)
	for i, name := range names {
		all[i] = by[name]
	}
}
