package slurmconf

import (
	"sort"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// nodeLines writes one NodeName line for each set of equal nodes, never a
// NodeName=DEFAULT, whose values would leak into every later line.
func nodeLines(nodes []Node) string {
	order := make([]*Node, len(nodes))
	for i := range nodes {
		order[i] = &nodes[i]
	}
	sort.SliceStable(order, func(i, j int) bool { return hostlist.Less(order[i].Name, order[j].Name) })
	groups := map[string][]*Node{}
	var shapes []string
	for _, n := range order {
		shape := n.shape()
		if groups[shape] == nil {
			shapes = append(shapes, shape)
		}
		groups[shape] = append(groups[shape], n)
	}
	var b strings.Builder
	for _, shape := range shapes {
		for _, run := range placeRuns(groups[shape]) {
			b.WriteString("NodeName=" + compressNames(run) + placeKeys(run) + " " + shape + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// shape is the part of a NodeName line that equal nodes share.
func (n *Node) shape() string {
	b := make([]byte, 0, 160)
	b = append(b, "Sockets="...)
	b = strconv.AppendInt(b, int64(n.Sockets), 10)
	b = append(b, " CoresPerSocket="...)
	b = strconv.AppendInt(b, int64(n.CoresPerSocket), 10)
	b = append(b, " ThreadsPerCore="...)
	b = strconv.AppendInt(b, int64(n.ThreadsPerCore), 10)
	b = append(b, " RealMemory="...)
	b = strconv.AppendInt(b, n.RealMemoryMiB, 10)
	if g := n.gres(); g != "" {
		b = append(append(b, " Gres="...), g...)
	}
	if len(n.Features) > 0 {
		b = append(append(b, " Features="...), strings.Join(n.Features, ",")...)
	}
	if n.Weight > 1 {
		b = append(b, " Weight="...)
		b = strconv.AppendInt(b, int64(n.Weight), 10)
	}
	if n.State != "" {
		b = append(append(b, " State="...), n.State...)
	}
	return string(b) + extraKeys(n.Extra)
}

// gres is the node's Gres value: always type and count, since Slurm reads
// "gpu:3090" as 3,090 GPUs. Sets of one type are added up.
func (n *Node) gres() string {
	if len(n.GPUs) == 1 {
		return "gpu:" + n.GPUs[0].Type + ":" + strconv.Itoa(n.GPUs[0].Count)
	}
	count := map[string]int{}
	var types []string
	for _, g := range n.GPUs {
		if _, seen := count[g.Type]; !seen {
			types = append(types, g.Type)
		}
		count[g.Type] += g.Count
	}
	for i, t := range types {
		types[i] = "gpu:" + t + ":" + strconv.Itoa(count[t])
	}
	return strings.Join(types, ",")
}

// extraKeys are the extra keys of a line, by name, each with a blank before it.
func extraKeys(extra map[string]string) string { return joinExtra(extra, " ") }

func joinExtra(extra map[string]string, before string) string {
	if len(extra) == 0 {
		return ""
	}
	keys := make([]string, 0, len(extra))
	for k := range extra {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(before + k + "=" + quote(extra[k]))
	}
	return b.String()
}

func compressNames(nodes []*Node) string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return hostlist.Compress(names)
}

// placeRuns cuts equal nodes into runs whose addresses, hosts and ports can be
// written as one range each, so that a line stays readable.
func placeRuns(nodes []*Node) [][]*Node {
	var runs [][]*Node
	start := 0
	for i := 1; i <= len(nodes); i++ {
		if i == len(nodes) || !continues(nodes[start:i], nodes[i]) {
			runs = append(runs, nodes[start:i])
			start = i
		}
	}
	return runs
}

// continues tells whether next carries on each of the run's places the way the
// run began: always the same, or always the following one.
func continues(run []*Node, next *Node) bool {
	first, last := run[0], run[len(run)-1]
	goesOn := func(a, b, c string) bool {
		same := a == b && b == c
		if len(run) > 1 && a == b || same {
			return same
		}
		return follows(b, c)
	}
	return goesOn(first.Addr, last.Addr, next.Addr) &&
		goesOn(first.Hostname, last.Hostname, next.Hostname) &&
		goesOn(number(first.Port), number(last.Port), number(next.Port))
}

// follows tells whether b is a with the number at its end counted up by one.
func follows(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	both := hostlist.Compress([]string{a, b}, hostlist.KeepOrder())
	return strings.HasSuffix(both, "]") && strings.Contains(both, "-") && !strings.Contains(both[strings.IndexByte(both, '['):], ",")
}

// placeKeys are NodeAddr, NodeHostname and Port of a run, each one value for
// all or as many values as there are nodes.
func placeKeys(run []*Node) string {
	return placeKey(" NodeAddr=", run, func(n *Node) string { return n.Addr }) +
		placeKey(" NodeHostname=", run, func(n *Node) string { return n.Hostname }) +
		placeKey(" Port=", run, func(n *Node) string { return number(n.Port) })
}

func placeKey(key string, run []*Node, of func(*Node) string) string {
	if of(run[0]) == "" {
		return ""
	}
	if of(run[0]) == of(run[len(run)-1]) {
		return key + of(run[0])
	}
	values := make([]string, len(run))
	for i, n := range run {
		values[i] = of(n)
	}
	return key + hostlist.Compress(values, hostlist.KeepOrder())
}
