package slurmconf

import (
	"sort"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// gresConf writes gres.conf: one record for each set of nodes with equal GPUs,
// always with NodeName, since a record without it applies to every host that
// reads the file, with GPUs or without. Empty without any GPU.
func gresConf(c Cluster) string {
	lines := gresLines(c.Nodes, c.GPUAutoDetect)
	if lines == "" {
		return ""
	}
	text := header("gres.conf") + "\n\n"
	if more := extraLines(c.Extra["gres.conf"]); more != "" {
		text += "# Site settings\n" + more + "\n"
	}
	return text + lines
}

func gresLines(nodes []Node, autoDetect string) string {
	order := make([]*Node, 0, len(nodes))
	for i := range nodes {
		if len(nodes[i].GPUs) > 0 {
			order = append(order, &nodes[i])
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return hostlist.Less(order[i].Name, order[j].Name) })
	groups := map[string][]*Node{}
	var shapes []string
	for _, n := range order {
		// Detection and records without files would name each GPU twice.
		shape := "AutoDetect=" + autoDetect
		if autoDetect == "" {
			shape = n.gresRecords()
		}
		if groups[shape] == nil {
			shapes = append(shapes, shape)
		}
		groups[shape] = append(groups[shape], n)
	}
	var b strings.Builder
	for _, shape := range shapes {
		names := compressNames(groups[shape])
		for _, record := range strings.Split(shape, "\n") {
			b.WriteString("NodeName=" + names + " " + record + "\n")
		}
	}
	return b.String()
}

// gresRecords are the node's records without NodeName, one a line.
func (n *Node) gresRecords() string {
	b := make([]byte, 0, 96*len(n.GPUs))
	for i := range n.GPUs {
		g := &n.GPUs[i]
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(append(b, "Name=gpu Type="...), g.Type...)
		b = strconv.AppendInt(append(b, " Count="...), int64(g.Count), 10)
		b = g.appendFiles(b)
		if g.Cores != "" {
			b = append(append(b, " Cores="...), g.Cores...)
		}
		for k, l := range g.Links {
			before := ","
			if k == 0 {
				before = " Links="
			}
			b = strconv.AppendInt(append(b, before...), int64(l), 10)
		}
	}
	return string(b)
}

// appendFiles names the set's device files.
func (g *GPUSet) appendFiles(b []byte) []byte {
	switch {
	case len(g.MultipleFiles) > 0:
		return append(append(b, " MultipleFiles="...), strings.Join(g.MultipleFiles, ",")...)
	case len(g.Files) > 0:
		return append(append(b, " File="...), hostlist.Compress(g.Files, hostlist.KeepOrder())...)
	}
	prefix := g.DevicePrefix
	if prefix == "" {
		prefix = DefaultDevicePrefix
	}
	b = append(append(b, " File="...), prefix...)
	if g.Count == 1 {
		return strconv.AppendInt(b, int64(g.FirstDevice), 10)
	}
	b = strconv.AppendInt(append(b, '['), int64(g.FirstDevice), 10)
	b = strconv.AppendInt(append(b, '-'), int64(g.FirstDevice+g.Count-1), 10)
	return append(b, ']')
}

// extraLines writes extra keys, one a line, by name.
func extraLines(extra map[string]string) string {
	return strings.TrimPrefix(joinExtra(extra, "\n"), "\n")
}
