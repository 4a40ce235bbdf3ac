package impact

import (
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// shape are the keys of a NodeName line that jobs were placed by: slurmctld
// aborts the jobs of a node whose shape is another after a reload.
var shape = map[string]bool{
	"boards": true, "cpus": true, "procs": true, "sockets": true, "socketsperboard": true, "corespersocket": true,
	"threadspercore": true, "gres": true, "gresconf": true, "corespeccount": true, "cpuspeclist": true, "memspeclimit": true,
}

// place are the keys that say where a node is.
var place = map[string]bool{"nodeaddr": true, "nodehostname": true, "port": true, "bcastaddr": true}

// warm are the keys that every release takes in a reconfigure while jobs run;
// more memory is another such change.
var warm = map[string]bool{"weight": true, "feature": true, "features": true}

// nodes compares the nodes: those that come, those that go, and those that
// stay, whose equal changes are told together.
func (c *comparison) nodes() {
	var added, removed []string
	groups := map[string][]string{}
	var seen []string
	for _, n := range unionKeys(c.from.nodes, c.to.nodes) {
		was, had := c.from.nodes[n]
		is, has := c.to.nodes[n]
		switch {
		case !had:
			added = append(added, n)
		case !has:
			removed = append(removed, n)
		default:
			for _, key := range unionKeys(was, is) {
				if was[key] == is[key] {
					continue
				}
				what := strings.Join([]string{key, was[key], is[key]}, "\x00")
				if place[key] {
					what = key // told together, whatever the values are
				}
				if groups[what] == nil {
					seen = append(seen, what)
				}
				groups[what] = append(groups[what], n)
			}
		}
	}
	c.added(added)
	c.removed(removed)
	for _, what := range seen {
		parts := append(strings.Split(what, "\x00"), "", "")
		c.node(groups[what], parts[0], parts[1], parts[2])
	}
}

// reload are the effects of every change of nodes: below 23.11 slurmctld and
// each slurmd restart.
func (c *comparison) reload() []Effect {
	if c.to.Version.ReconfigureTakesNodes() {
		return []Effect{{Reconfigure, c.to.controllers}}
	}
	return []Effect{{RestartController, c.to.controllers}, {RestartHosts, c.staying()}}
}

func (c *comparison) added(nodes []string) {
	if len(nodes) > 0 {
		c.add(Change{File: "slurm.conf", Record: "node", Hosts: nodes, To: "added",
			Effects: append(c.reload(), Effect{Join, c.to.hostsOf(nodes)}), Why: c.rules.nodesWhy})
	}
}

func (c *comparison) removed(nodes []string) {
	if len(nodes) > 0 {
		hosts := c.from.hostsOf(nodes)
		c.add(Change{File: "slurm.conf", Record: "node", Hosts: nodes, From: "removed",
			Effects: append(c.reload(), Effect{Drain, hosts}, Effect{Leave, hosts}), Why: c.rules.nodesWhy})
	}
}

// node adds the change of one key on nodes that stay.
func (c *comparison) node(nodes []string, key, was, is string) {
	hosts := c.to.hostsOf(nodes)
	change := Change{
		File: "slurm.conf", Record: "node", Hosts: nodes, Key: slurmconf.Spelling("node", key), From: was, To: is,
		Effects: c.reload(), Why: c.rules.nodesWhy,
	}
	switch {
	case shape[key] || key == "realmemory" && less(is, was):
		change.Effects = append(change.Effects, Effect{Drain, hosts}, Effect{RestartHosts, hosts})
		change.Why = "jobs on a node that changes its shape would be aborted"
	case place[key]:
		change.Effects = append(change.Effects, Effect{Drain, hosts}, Effect{RestartHosts, hosts})
		change.Why = "slurmctld loses sight of the node until its slurmd answers there"
	case warm[key] || key == "realmemory":
		change.Effects, change.Why = []Effect{{Reconfigure, c.to.controllers}}, ""
	case key == "state" || key == "reason":
		change.Effects = []Effect{{Reconfigure, c.to.controllers}}
		change.Why = "only the state at slurmctld's first start"
	}
	c.add(change)
}

// less compares two numbers as text; what is no number is not less.
func less(a, b string) bool {
	x, errX := strconv.ParseInt(a, 10, 64)
	y, errY := strconv.ParseInt(b, 10, 64)
	return errX == nil && errY == nil && x < y
}

// gres compares gres.conf for nodes that stay. Where the number of GPUs
// changes, slurm.conf has told of it already.
func (c *comparison) gres() {
	groups := map[string][]string{}
	var seen []string
	for _, n := range c.to.nodeOrder {
		if _, had := c.from.nodes[n]; !had || c.from.gres[n] == c.to.gres[n] || c.from.nodes[n]["gres"] != c.to.nodes[n]["gres"] {
			continue
		}
		what := c.from.gres[n] + "\x00" + c.to.gres[n]
		if groups[what] == nil {
			seen = append(seen, what)
		}
		groups[what] = append(groups[what], n)
	}
	for _, what := range seen {
		was, is, _ := strings.Cut(what, "\x00")
		hosts := c.to.hostsOf(groups[what])
		c.add(Change{
			File: "gres.conf", Record: "node", Hosts: groups[what], Key: "GPUs", From: tidy(was), To: tidy(is),
			Effects: []Effect{{Reconfigure, c.to.controllers}, {Drain, hosts}, {RestartHosts, hosts}},
			Why:     "jobs hold devices by their place in this list",
		})
	}
}

func tidy(records string) string {
	return strings.ReplaceAll(strings.Trim(records, " ;"), "; ", "; ")
}

// hostsOf are the machines of some nodes, each once, in natural order.
func (p *parsed) hostsOf(nodes []string) []string {
	out := make([]string, len(nodes))
	for i, n := range nodes {
		out[i] = p.host(n)
	}
	hostlist.Sort(out)
	kept := out[:0]
	for i, h := range out {
		if i == 0 || h != out[i-1] {
			kept = append(kept, h)
		}
	}
	return kept
}
