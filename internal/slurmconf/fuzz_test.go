package slurmconf

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// FuzzRender puts words from outside into every place that takes them. What
// Check lets through must come back from Slurm's own grammar as it was meant:
// no word may end a value, start a comment or begin another key.
func FuzzRender(f *testing.F) {
	f.Add("gpu1", "h100", "ib", "all", "10.0.0.1", "/bin/mail x", "leaf1", "acct")
	f.Add("n1 CPUs=9", "a100:4", "a b", `p" x`, "1,2", "a#b", "s Nodes=x", "-")
	f.Add("é", "", "x\ny", "DEFAULT", "fd00::1", `\`, "a]", "=")
	f.Fuzz(func(t *testing.T, node, gpu, feature, partition, addr, value, leaf, account string) {
		c := good(V2411)
		c.Nodes = []Node{labGPU}
		c.Nodes[0].Name, c.Nodes[0].Addr, c.Nodes[0].Features = node, addr, []string{feature}
		c.Nodes[0].GPUs = []GPUSet{{Type: gpu, Count: 2}}
		c.Partitions = []Partition{{Name: partition, Nodes: []string{node}, AllowAccounts: []string{account}}}
		c.Topology = []topology.Switch{{Name: leaf, Nodes: []string{node}}}
		slurmExtra("MailProg", value)(&c)
		set, err := Render(c)
		if err != nil {
			return
		}
		want(t, set, "slurm.conf", "NodeName", node, map[string]string{
			"Gres": "gpu:" + gpu + ":2", "Features": feature, "NodeAddr": addr, "RealMemory": "64000", "Sockets": "2",
		})
		want(t, set, "slurm.conf", "PartitionName", partition, map[string]string{"Nodes": node, "AllowAccounts": account})
		want(t, set, "slurm.conf", "MailProg", value, nil)
		want(t, set, "topology.conf", "SwitchName", leaf, map[string]string{"Nodes": node})
		want(t, set, "gres.conf", "NodeName", node, map[string]string{"Type": gpu, "Count": "2", "File": "/dev/nvidia[0-1]"})
	})
}

// want looks for the one line of a key and compares its pairs.
func want(t *testing.T, set FileSet, file, key, value string, pairs map[string]string) {
	t.Helper()
	lines, err := Parse(set.Content(file))
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, set.Content(file))
	}
	found := 0
	for _, l := range lines {
		if !l.Is(key) || l.Pairs[0].Value != value {
			continue
		}
		found++
		for k, w := range pairs {
			if got, ok := l.Get(k); got != w || !ok && w != "" {
				t.Errorf("%s: %s is %q; want %q\n%s", file, k, got, w, set.Content(file))
			}
		}
	}
	if found != 1 {
		t.Errorf("%s: %d lines %s=%q\n%s", file, found, key, strings.ToValidUTF8(value, "?"), set.Content(file))
	}
}
