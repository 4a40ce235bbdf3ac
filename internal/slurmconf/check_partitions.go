package slurmconf

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

func checkNodeSets(r *report, c Cluster, nodes map[string]int) map[string]bool {
	sets := map[string]bool{}
	for i, s := range c.NodeSets {
		path := func(field string) string { return fmt.Sprintf("nodeSets[%d].%s", i, field) }
		checkName(r, path("name"), "NodeSet", "node set", s.Name)
		if _, isNode := nodes[s.Name]; isNode {
			r.add(path("name"), "NodeSet", "choose another name", "node set %q has the name of a node", s.Name)
		}
		if sets[s.Name] {
			r.add(path("name"), "NodeSet", "name each node set once", "node set %q is there twice", s.Name)
		}
		sets[s.Name] = true
		if len(s.Nodes) == 0 && s.Feature == "" {
			r.add(path("nodes"), "Nodes", "name nodes or a feature", "node set %q has no members", s.Name)
		}
		checkMembers(r, path("nodes"), s.Name, s.Nodes, nodes)
		if s.Feature != "" {
			checkWord(r, path("feature"), "Feature", "feature", s.Feature)
		}
	}
	return sets
}

// checkMembers reports all names that are not nodes in one problem.
func checkMembers(r *report, path, owner string, members []string, nodes map[string]int) {
	var unknown []string
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		if _, ok := nodes[m]; !ok {
			unknown = append(unknown, m)
		} else if seen[m] {
			r.add(path, "Nodes", "name it once", "%s has %q twice", owner, m)
		}
		seen[m] = true
	}
	if len(unknown) > 0 {
		r.add(path, "Nodes", "name nodes of this cluster", "%s names %s: no such node", owner, hostlist.Compress(unknown))
	}
}

func checkPartitions(r *report, c Cluster, nodes map[string]int, sets map[string]bool) {
	if len(c.Partitions) == 0 {
		r.add("partitions", "PartitionName", "add one", "no partition")
	}
	index, first := map[string]int{}, -1
	for i, p := range c.Partitions {
		path := func(field string) string { return fmt.Sprintf("partitions[%d].%s", i, field) }
		checkWord(r, path("name"), "PartitionName", "partition name", p.Name)
		switch at, twice := index[p.Name]; {
		case strings.EqualFold(p.Name, "DEFAULT"):
			r.add(path("name"), "PartitionName", "choose another name", "%q sets defaults for every later partition", p.Name)
		case p.Name == RootPartition:
			r.add(path("name"), "PartitionName", "choose another name", "%q is the partition in which hosts are checked", p.Name)
		case twice:
			r.add(path("name"), "PartitionName", "name each partition once", "partition %q is already partitions[%d]", p.Name, at)
		default:
			index[p.Name] = i
		}
		if p.Default && first >= 0 {
			r.add(path("default"), "Default", "keep one default", "partitions[%d] is the default already", first)
		} else if p.Default {
			first = i
		}
		checkMembers(r, path("nodes"), "partition "+p.Name, p.Nodes, nodes)
		for k, s := range p.NodeSets {
			if !sets[s] {
				r.add(fmt.Sprintf("%s[%d]", path("nodeSets"), k), "Nodes", "name a node set", "partition %q names %q: no such node set", p.Name, s)
			}
		}
		checkPartitionLimits(r, path, p)
		checkPartitionPolicy(r, path, p, c)
	}
}

// maxPriority is the largest 16-bit number that Slurm has no other meaning for.
const maxPriority = 65533

func checkPartitionLimits(r *report, path func(string) string, p Partition) {
	longest, hasMax := checkTime(r, path("maxTime"), "MaxTime", p.MaxTime)
	usual, hasDefault := checkTime(r, path("defaultTime"), "DefaultTime", p.DefaultTime)
	if hasMax && hasDefault && longest >= 0 && (usual > longest || usual < 0) {
		r.add(path("defaultTime"), "DefaultTime", "make it shorter than maxTime", "partition %q gives jobs %s and lets them run %s", p.Name, p.DefaultTime, p.MaxTime)
	}
	for _, f := range []struct {
		field, key string
		value      int64
	}{
		{"minNodes", "MinNodes", int64(p.MinNodes)}, {"maxNodes", "MaxNodes", int64(p.MaxNodes)}, {"priorityTier", "PriorityTier", int64(p.PriorityTier)},
		{"priorityJobFactor", "PriorityJobFactor", int64(p.PriorityJobFactor)}, {"defMemPerGPUMiB", "DefMemPerGPU", p.DefMemPerGPUMiB},
		{"defCPUPerGPU", "DefCpuPerGPU", int64(p.DefCPUPerGPU)}, {"defMemPerCPUMiB", "DefMemPerCPU", p.DefMemPerCPUMiB},
		{"graceTimeSeconds", "GraceTime", int64(p.GraceTimeSeconds)},
	} {
		if f.value < 0 {
			r.add(path(f.field), f.key, "write 0 for no limit", "%s is %d", f.key, f.value)
		}
	}
	if p.PriorityTier > maxPriority {
		r.add(path("priorityTier"), "PriorityTier", "write at most 65533", "PriorityTier is %d", p.PriorityTier)
	}
	if p.PriorityJobFactor > maxPriority {
		r.add(path("priorityJobFactor"), "PriorityJobFactor", "write at most 65533", "PriorityJobFactor is %d", p.PriorityJobFactor)
	}
	if p.MaxNodes > 0 && p.MinNodes > p.MaxNodes {
		r.add(path("minNodes"), "MinNodes", "make it at most maxNodes", "partition %q wants %d nodes and allows %d", p.Name, p.MinNodes, p.MaxNodes)
	}
}

var overSubscribe = regexp.MustCompile(`^(?i:NO|EXCLUSIVE|YES(:[1-9][0-9]*)?|FORCE(:[1-9][0-9]*)?)$`)

func checkPartitionPolicy(r *report, path func(string) string, p Partition, c Cluster) {
	for _, list := range []struct {
		field, key string
		words      []string
	}{
		{"allowAccounts", "AllowAccounts", p.AllowAccounts}, {"allowGroups", "AllowGroups", p.AllowGroups}, {"allowQOS", "AllowQos", p.AllowQOS},
	} {
		for i, w := range list.words {
			checkWord(r, fmt.Sprintf("%s[%d]", path(list.field), i), list.key, "name", w)
		}
	}
	if c.Accounting == nil && (p.QOS != "" || len(p.AllowQOS) > 0 || len(p.AllowAccounts) > 0) {
		r.add(path("qos"), "QOS", "set accounting", "partition %q uses accounts or QOS, which only a database knows", p.Name)
	}
	if p.QOS != "" {
		checkWord(r, path("qos"), "QOS", "QOS", p.QOS)
	}
	if p.OverSubscribe != "" && !overSubscribe.MatchString(p.OverSubscribe) {
		r.add(path("overSubscribe"), "OverSubscribe", "write NO, EXCLUSIVE, YES or FORCE, the last two with :count if at all", "OverSubscribe is %q", p.OverSubscribe)
	}
	if p.PreemptMode != "" && !contains([]string{"OFF", "CANCEL", "REQUEUE", "SUSPEND"}, strings.ToUpper(p.PreemptMode)) {
		r.add(path("preemptMode"), "PreemptMode", "write off, cancel, requeue or suspend", "PreemptMode is %q", p.PreemptMode)
	}
	if p.State != "" && !contains([]string{"UP", "DOWN", "DRAIN", "INACTIVE"}, strings.ToUpper(p.State)) {
		r.add(path("state"), "State", "write UP, DOWN, DRAIN or INACTIVE", "state %q of partition %q", p.State, p.Name)
	}
	checkKeys(r, path("extra"), "partition", p.Extra, c.Version, c.reader())
}
