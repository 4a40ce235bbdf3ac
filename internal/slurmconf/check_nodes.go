package slurmconf

import (
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// checkNodes checks every node and returns their names, each mapped to its
// index.
func checkNodes(r *report, c Cluster) map[string]int {
	index := make(map[string]int, len(c.Nodes))
	if len(c.Nodes) > hostlist.MaxHosts {
		r.add("nodes", "NodeName", "make two clusters", "%d nodes, more than the %d that Slurm takes", len(c.Nodes), hostlist.MaxHosts)
	}
	places := map[string]int{}
	checked := map[string]bool{} // shapes that were found good
	for i := range c.Nodes {
		n := &c.Nodes[i]
		path := func(field string) string { return fmt.Sprintf("nodes[%d].%s", i, field) }
		checkNodeName(r, path, n, i, index)
		checkPlace(r, path, n, i, places)
		shape := n.shape() + "\n" + n.gresRecords()
		if checked[shape] {
			continue
		}
		before := len(r.problems)
		checkHardware(r, path, n)
		checkGPUs(r, path, n, c.GPUAutoDetect != "")
		checkNodeWords(r, path, n, c)
		checked[shape] = before == len(r.problems)
	}
	return index
}

func checkNodeName(r *report, path func(string) string, n *Node, i int, index map[string]int) {
	if hostlist.Check(n.Name) != nil {
		checkName(r, path("name"), "NodeName", "node", n.Name)
		return
	}
	if strings.EqualFold(n.Name, "DEFAULT") || strings.EqualFold(n.Name, "ALL") {
		r.add(path("name"), "NodeName", "choose another name", "%q means every node to Slurm", n.Name)
		return
	}
	if first, ok := index[n.Name]; ok {
		r.add(path("name"), "NodeName", "name each node once", "node %q is already nodes[%d]", n.Name, first)
		return
	}
	index[n.Name] = i
}

func checkPlace(r *report, path func(string) string, n *Node, i int, places map[string]int) {
	if n.Addr != "" && (hasControl(n.Addr) || strings.ContainsAny(n.Addr, " ,()[]#\"=\\")) {
		r.add(path("addr"), "NodeAddr", "write one address", "address %q of %s", n.Addr, n.Name)
	}
	if n.Port < 0 || n.Port > 65535 {
		r.add(path("port"), "Port", "write a port from 1 to 65535", "port %d of %s", n.Port, n.Name)
	}
	if n.Hostname == "" {
		return
	}
	checkName(r, path("hostname"), "NodeHostname", "host", n.Hostname)
	place := fmt.Sprintf("%s:%d", n.Hostname, n.Port)
	if first, ok := places[place]; ok {
		r.add(path("hostname"), "NodeHostname", "give each node on a host a port of its own",
			"%s is on host %s, port %d, as nodes[%d] is", n.Name, n.Hostname, n.Port, first)
		return
	}
	places[place] = i
}

func checkHardware(r *report, path func(string) string, n *Node) {
	for _, f := range []struct {
		field, key string
		value      int
	}{
		{"sockets", "Sockets", n.Sockets}, {"coresPerSocket", "CoresPerSocket", n.CoresPerSocket}, {"threadsPerCore", "ThreadsPerCore", n.ThreadsPerCore},
	} {
		if f.value < 1 {
			r.add(path(f.field), f.key, "say what \"slurmd -C\" prints on the host", "%s has %d %s", n.Name, f.value, f.field)
		}
	}
	if n.RealMemoryMiB < 1 {
		r.add(path("realMemoryMiB"), "RealMemory", "say it: Slurm's default is 1 MiB", "%s has %d MiB of memory", n.Name, n.RealMemoryMiB)
	}
	if n.Sockets > 8 && n.CoresPerSocket == 1 {
		r.advise(path("sockets"), "Sockets", "describe sockets and cores as the machine has them; the cores near a GPU mean nothing so",
			"%s has %d sockets of one core", n.Name, n.Sockets)
	}
	if n.Weight < 0 {
		r.add(path("weight"), "Weight", "write 1 or more", "weight %d of %s", n.Weight, n.Name)
	}
}

// checkNodeWords checks features, state and extra keys.
func checkNodeWords(r *report, path func(string) string, n *Node, c Cluster) {
	for i, f := range n.Features {
		checkWord(r, fmt.Sprintf("%s[%d]", path("features"), i), "Features", "feature", f)
	}
	switch n.State {
	case "", "UNKNOWN", "FUTURE", "DOWN", "DRAIN", "FAIL":
	case "CLOUD":
		if c.GPUAutoDetect != "" && c.GPUAutoDetect != "off" && len(n.GPUs) > 0 {
			r.add(path("state"), "State", "name the device files, and leave gpuAutoDetect out",
				"%s comes and goes, and its GPUs cannot be detected while it is away", n.Name)
		}
	default:
		r.add(path("state"), "State", "write CLOUD, FUTURE, DOWN or DRAIN, or leave it out", "state %q of %s", n.State, n.Name)
	}
	checkKeys(r, path("extra"), "node", n.Extra, c.Version, c.reader())
}

// hasControl tells whether s has a byte in it that is no character to print.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// checkWord checks a word of a comma-separated list.
func checkWord(r *report, path, key, what, word string) bool {
	if word == "" || hasControl(word) || strings.ContainsAny(word, " ,\"#\\=&|*") {
		r.add(path, key, "use letters, digits, \"-\", \"_\", \".\" and \":\"", "%s %q", what, word)
		return false
	}
	return true
}
