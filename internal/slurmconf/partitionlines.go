package slurmconf

import (
	"sort"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// nodeSetLines writes one NodeSet line a set, by name.
func nodeSetLines(sets []NodeSet) string {
	sorted := append([]NodeSet(nil), sets...)
	sort.SliceStable(sorted, func(i, j int) bool { return hostlist.Less(sorted[i].Name, sorted[j].Name) })
	lines := make([]string, len(sorted))
	for i, s := range sorted {
		lines[i] = "NodeSet=" + s.Name
		if len(s.Nodes) > 0 {
			lines[i] += " Nodes=" + hostlist.Compress(s.Nodes)
		}
		if s.Feature != "" {
			lines[i] += " Feature=" + s.Feature
		}
	}
	return strings.Join(lines, "\n")
}

// partitionLines writes one PartitionName line a partition, in the order given:
// it is the order in which people see them.
func partitionLines(partitions []Partition) string {
	lines := make([]string, len(partitions))
	for i, p := range partitions {
		lines[i] = p.line()
	}
	return strings.Join(lines, "\n")
}

func (p Partition) line() string {
	var b strings.Builder
	key := func(key, value string) {
		if value != "" {
			b.WriteString(" " + key + "=" + value)
		}
	}
	members := strings.Join(append(append([]string(nil), p.NodeSets...), nonEmpty(hostlist.Compress(p.Nodes))...), ",")
	// Without quotes Slurm takes the next word for the value.
	b.WriteString("PartitionName=" + p.Name + " Nodes=" + quote(members))
	if p.Default {
		key("Default", "YES")
	}
	key("MaxTime", p.MaxTime)
	key("DefaultTime", p.DefaultTime)
	key("MinNodes", number(p.MinNodes))
	key("MaxNodes", number(p.MaxNodes))
	key("PriorityTier", number(p.PriorityTier))
	key("PriorityJobFactor", number(p.PriorityJobFactor))
	key("DefMemPerGPU", number64(p.DefMemPerGPUMiB))
	key("DefCpuPerGPU", number(p.DefCPUPerGPU))
	key("DefMemPerCPU", number64(p.DefMemPerCPUMiB))
	key("AllowAccounts", strings.Join(p.AllowAccounts, ","))
	key("AllowGroups", strings.Join(p.AllowGroups, ","))
	key("AllowQos", strings.Join(p.AllowQOS, ","))
	key("QOS", p.QOS)
	key("OverSubscribe", p.OverSubscribe)
	key("PreemptMode", p.PreemptMode)
	key("GraceTime", number(p.GraceTimeSeconds))
	key("State", p.State)
	return b.String() + extraKeys(p.Extra)
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func number64(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
