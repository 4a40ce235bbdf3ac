package slurmconf

import "strings"

// RootPartitions are the partitions in which root may run a job, with all their
// nodes by name: those of the cluster in their order, then the hidden one, if
// there is one.
func (c Cluster) RootPartitions() []Partition {
	all := c.openToRoot()
	if root := rootPartition(c); len(root.Nodes) > 0 {
		all = append(all, root)
	}
	return all
}

// openToRoot are the partitions of the cluster in which root may run a job on
// one node, with all their nodes by name.
func (c Cluster) openToRoot() []Partition {
	sets := map[string]NodeSet{}
	for _, s := range c.NodeSets {
		sets[s.Name] = s
	}
	var all []Partition
	for _, p := range c.Partitions {
		if c.noRootJobs() || !p.takesRoot() {
			continue
		}
		p.Nodes = append([]string(nil), p.Nodes...)
		for _, name := range p.NodeSets {
			p.Nodes = append(p.Nodes, sets[name].Nodes...)
			for i := range c.Nodes {
				if f := sets[name].Feature; f != "" && contains(c.Nodes[i].Features, f) {
					p.Nodes = append(p.Nodes, c.Nodes[i].Name)
				}
			}
		}
		all = append(all, p)
	}
	return all
}

// rootPartition is the hidden partition for the jobs with which root checks a
// host before it is opened: it has the nodes that no other partition would let
// root use. It has no nodes where there are none of those.
func rootPartition(c Cluster) Partition {
	open := map[string]bool{}
	for _, p := range c.openToRoot() {
		for _, n := range p.Nodes {
			open[n] = true
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
