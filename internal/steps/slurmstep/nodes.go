package slurmstep

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// nodesOf reads the nodes that a slurm.conf describes.
func nodesOf(content string) ([]slurmctl.NodeSpec, error) {
	lines, err := slurmconf.Parse(content)
	if err != nil {
		return nil, fmt.Errorf("reading slurm.conf: %w", err)
	}
	var nodes []slurmctl.NodeSpec
	for _, line := range lines {
		expression, ok := line.Get("NodeName")
		if !ok {
			continue
		}
		some, err := nodesOfLine(line, expression)
		if err != nil {
			return nil, fmt.Errorf("reading slurm.conf, line %d: %w", line.Number, err)
		}
		nodes = append(nodes, some...)
	}
	return nodes, nil
}

func nodesOfLine(line slurmconf.Line, expression string) ([]slurmctl.NodeSpec, error) {
	shape := slurmctl.NodeSpec{}
	var memory int
	for key, field := range map[string]*int{
		"CPUs": &shape.CPUs, "Sockets": &shape.Sockets, "CoresPerSocket": &shape.Cores,
		"ThreadsPerCore": &shape.Threads, "RealMemory": &memory,
	} {
		text, ok := line.Get(key)
		if !ok {
			continue
		}
		value, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		*field = value
	}
	if shape.CPUs == 0 {
		shape.CPUs = shape.Sockets * shape.Cores * shape.Threads
	}
	shape.RealMemory = int64(memory)
	text, _ := line.Get("Gres")
	gres, err := slurmctl.ParseGres(text)
	if err != nil {
		return nil, err
	}
	shape.Gres = gres
	all, err := hostlist.Expand(expression)
	if err != nil {
		return nil, err
	}
	text, _ = line.Get("NodeAddr")
	addresses, err := addressesOf(text, len(all))
	if err != nil {
		return nil, fmt.Errorf("NodeAddr: %w", err)
	}
	nodes := make([]slurmctl.NodeSpec, len(all))
	for i, name := range all {
		nodes[i] = shape
		nodes[i].Name, nodes[i].Addr = name, addresses[i]
	}
	return nodes, nil
}

// addressesOf are the addresses of the nodes of one line: one for all, or a range
// with one for each.
func addressesOf(text string, nodes int) ([]string, error) {
	if !strings.Contains(text, "[") {
		return slices.Repeat([]string{text}, nodes), nil
	}
	// A host list has no colons; what is before the last one is the same in all.
	at := strings.LastIndexByte(text, ':') + 1
	addresses, err := hostlist.Expand("x" + text[at:])
	if err != nil {
		return nil, err
	}
	if len(addresses) != nodes {
		return nil, fmt.Errorf("%d addresses of %d nodes", len(addresses), nodes)
	}
	for i, address := range addresses {
		addresses[i] = text[:at] + address[1:]
	}
	return addresses, nil
}

func names(nodes []slurmctl.NodeSpec) []string {
	all := make([]string, len(nodes))
	for i, node := range nodes {
		all[i] = node.Name
	}
	return all
}

// partitionQOS lists the QOS that partitions name, where accounting is kept.
// slurmctld does not start when the database lacks one of them.
func partitionQOS(content string) []string {
	lines, err := slurmconf.Parse(content)
	if err != nil {
		return nil // nodesOf has told
	}
	var names []string
	kept := false
	for _, line := range lines {
		if kind, ok := line.Get("AccountingStorageType"); ok && strings.HasSuffix(kind, "slurmdbd") {
			kept = true
		}
		if !line.Is("PartitionName") {
			continue
		}
		for _, key := range []string{"QOS", "AllowQos"} {
			value, _ := line.Get(key)
			names = append(names, strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return r == ',' })...)
		}
	}
	if !kept {
		return nil
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "all" || name == "n/a" })
}
