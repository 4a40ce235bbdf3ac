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

// rootPartition is the hidden partition for the jobs with which root checks a
// host before it is opened: it has the nodes that no other partition would let
// root use. It has no nodes where there are none of those.
func rootPartition(c Cluster) Partition {
	open := map[string]bool{}
	sets := map[string]NodeSet{}
	for _, s := range c.NodeSets {
		sets[s.Name] = s
	}
	for _, p := range c.Partitions {
		if c.noRootJobs() || !p.takesRoot() {
			continue
		}
		for _, n := range p.Nodes {
			open[n] = true
		}
		for _, name := range p.NodeSets {
			for _, n := range sets[name].Nodes {
				open[n] = true
			}
			for i := range c.Nodes {
				if f := sets[name].Feature; f != "" && contains(c.Nodes[i].Features, f) {
					open[c.Nodes[i].Name] = true
				}
			}
		}
	}
	root := Partition{Name: RootPartition, Extra: map[string]string{"Hidden": "YES", "RootOnly": "YES"}}
	if c.noRootJobs() {
		root.Extra["DisableRootJobs"] = "NO"
	}
	for i := range c.Nodes {
		if !open[c.Nodes[i].Name] {
			root.Nodes = append(root.Nodes, c.Nodes[i].Name)
		}
	}
	return root
}

// RootPartition is the name of the hidden partition that is added where root
// could not check every host otherwise.
const RootPartition = "gpucluster"

// takesRoot tells whether root may run a job in the partition.
func (p Partition) takesRoot() bool {
	for key := range p.Extra {
		if closing[strings.ToLower(key)] {
			return false
		}
	}
	up := p.State == "" || strings.EqualFold(p.State, "UP")
	return up && p.QOS == "" && len(p.AllowAccounts)+len(p.AllowGroups)+len(p.AllowQOS) == 0 && p.MinNodes <= 1
}

// closing are the extra keys that may keep root out.
var closing = map[string]bool{"disablerootjobs": true, "denyaccounts": true, "denyqos": true, "reqresv": true, "allocnodes": true}

// noRootJobs tells whether the site keeps root from all partitions but those
// that say otherwise.
func (c Cluster) noRootJobs() bool {
	for key, value := range c.Extra["slurm.conf"] {
		if strings.EqualFold(key, "DisableRootJobs") {
			return contains([]string{"yes", "true", "up", "1"}, strings.ToLower(value))
		}
	}
	return false
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
