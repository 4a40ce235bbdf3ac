package slurmconf

import (
	"fmt"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// largeCluster has n hosts with an address each, in racks of 32 under a
// three-level tree, two hardware kinds and four partitions.
func largeCluster(n int, v Version) Cluster {
	c := Cluster{
		Name: "large", Version: v, Controllers: []Controller{{Name: "ctl"}}, Accounting: &Accounting{Host: "ctl"},
		Priority: Priority{Age: 1000, FairShare: 10000},
	}
	var all, first, second []string
	top := topology.Switch{Name: "core"}
	var spine *topology.Switch
	for i := range n {
		node := h100
		if i >= n/2 {
			node = a100
		}
		node.Name = fmt.Sprintf("gpu%05d", i+1)
		node.Addr = fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)
		c.Nodes = append(c.Nodes, node)
		all = append(all, node.Name)
		if i%512 == 0 {
			c.Topology = append(c.Topology, topology.Switch{Name: fmt.Sprintf("spine%d", i/512)})
			top.Switches = append(top.Switches, fmt.Sprintf("spine%d", i/512))
		}
		if i%32 == 0 {
			spine = &c.Topology[lastSpine(c.Topology)]
			spine.Switches = append(spine.Switches, fmt.Sprintf("leaf%d", i/32))
			c.Topology = append(c.Topology, topology.Switch{Name: fmt.Sprintf("leaf%d", i/32)})
		}
		leaf := &c.Topology[len(c.Topology)-1]
		leaf.Nodes = append(leaf.Nodes, node.Name)
	}
	first, second = all[:n/2], all[n/2:]
	c.Topology = append(c.Topology, top)
	c.Partitions = []Partition{
		{Name: "all", Nodes: all, Default: true, MaxTime: "2-0"}, {Name: "h100", Nodes: first}, {Name: "a100", Nodes: second},
		{Name: "debug", Nodes: all, MaxTime: "30:00", PriorityTier: 10},
	}
	return c
}

func lastSpine(switches []topology.Switch) int {
	for i := len(switches) - 1; i >= 0; i-- {
		if switches[i].Name[0] == 's' {
			return i
		}
	}
	return 0
}

func benchmarkRender(b *testing.B, n int) {
	c := largeCluster(n, V2411)
	b.ReportAllocs()
	bytes := 0
	for b.Loop() {
		set, err := Render(c) // checks first
		if err != nil {
			b.Fatal(err)
		}
		bytes = 0
		for _, f := range set.Files {
			bytes += len(f.Content)
		}
	}
	b.ReportMetric(float64(bytes), "file-bytes")
}

func BenchmarkCheckAndRender1024(b *testing.B)  { benchmarkRender(b, 1024) }
func BenchmarkCheckAndRender10240(b *testing.B) { benchmarkRender(b, 10240) }

// TestLargeClusterFits: the file set of 10,240 hosts is checked and written
// within the memory that a small machine has.
func TestLargeClusterFits(t *testing.T) {
	c := largeCluster(10240, V2411)
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Render(c); err != nil {
				b.Fatal(err)
			}
		}
	})
	const most = 100 << 20
	if result.AllocedBytesPerOp() > most {
		t.Errorf("%d bytes allocated; want at most %d", result.AllocedBytesPerOp(), most)
	}
	t.Logf("10,240 hosts: %d ms and %d KiB allocated", result.NsPerOp()/1e6, result.AllocedBytesPerOp()/1024)
}
