package slurmconf

import (
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// names expands an expression that is known to be good.
func names(expr string) []string {
	out, err := hostlist.Expand(expr)
	if err != nil {
		panic(err)
	}
	return out
}

// nodes makes equal nodes after a pattern.
func nodes(expr string, pattern Node) []Node {
	var out []Node
	for _, n := range names(expr) {
		pattern.Name = n
		out = append(out, pattern)
	}
	return out
}

// h100 is a host with 8 GPUs of one type; cpuOnly has none.
var (
	h100 = Node{
		Sockets: 2, CoresPerSocket: 56, ThreadsPerCore: 2, RealMemoryMiB: 1992294,
		GPUs: []GPUSet{{Type: "h100", Count: 4, Cores: "0-55"}, {Type: "h100", Count: 4, FirstDevice: 4, Cores: "56-111"}}, Features: []string{"h100", "ib"},
	}
	a100 = Node{
		Sockets: 2, CoresPerSocket: 64, ThreadsPerCore: 1, RealMemoryMiB: 980000,
		GPUs: []GPUSet{{Type: "a100", Count: 4}}, Features: []string{"a100"},
	}
	cpuOnly = Node{Sockets: 2, CoresPerSocket: 32, ThreadsPerCore: 1, RealMemoryMiB: 250000, Weight: 5}
	labGPU  = Node{
		Sockets: 2, CoresPerSocket: 16, ThreadsPerCore: 1, RealMemoryMiB: 64000, GPUs: []GPUSet{{Type: "h100", Count: 8}},
	}
)

// samples are the clusters that golden files exist for, each rendered for every
// supported release.
func samples(v Version) map[string]Cluster {
	return map[string]Cluster{
		"small": {
			Name: "small", Version: v, Controllers: []Controller{{Name: "ctl"}},
			Nodes:      nodes("cpu[1-2]", cpuOnly),
			Partitions: []Partition{{Name: "all", Nodes: names("cpu[1-2]"), Default: true}},
		},
		"lab":     labCluster(v),
		"onprem":  onpremCluster(v),
		"mixed":   mixedCluster(v),
		"several": severalPerHostCluster(v),
	}
}

func labCluster(v Version) Cluster {
	return Cluster{
		Name: "lab", Version: v, Overrides: LabOverrides(),
		Controllers: []Controller{{Name: "ctl"}},
		Accounting:  &Accounting{Host: "ctl"},
		Nodes:       nodes("gpu[1-4]", labGPU),
		Partitions:  []Partition{{Name: "gpu", Nodes: names("gpu[1-4]"), Default: true, MaxTime: "1-0"}},
		Topology: []topology.Switch{
			{Name: "core", Switches: []string{"leaf1", "leaf2"}},
			{Name: "leaf1", Nodes: names("gpu[1-2]")},
			{Name: "leaf2", Nodes: names("gpu[3-4]")},
		},
		Priority: Priority{Age: 1000, FairShare: 10000, JobSize: 1000, QOS: 10000},
	}
}

func onpremCluster(v Version) Cluster {
	c := Cluster{
		Name: "onprem", Version: v,
		Controllers: []Controller{{Name: "ctl1", Addr: "10.0.0.1"}, {Name: "ctl2", Addr: "10.0.0.2"}},
		Accounting: &Accounting{
			Host: "db1", TRES: []string{"license/matlab"},
			Storage: Storage{Host: "sql.site.example", Port: 3306},
		},
		Nodes: append(nodes("gpu[001-048]", h100), nodes("gpu[049-064]", a100)...),
		Partitions: []Partition{
			{Name: "train", Nodes: names("gpu[001-048]"), Default: true, MaxTime: "2-0", DefaultTime: "1:00:00", DefMemPerGPUMiB: 240000, DefCPUPerGPU: 24, PriorityTier: 10},
			{Name: "infer", Nodes: names("gpu[049-064]"), MaxTime: "UNLIMITED", AllowAccounts: []string{"serving"}, QOS: "infer"},
			{Name: "debug", Nodes: names("gpu[001-064]"), MaxTime: "30:00", MaxNodes: 2, PriorityTier: 20, Extra: map[string]string{"TRESBillingWeights": "CPU=1,Mem=0.25G,GRES/gpu=8"}},
		},
		Topology: []topology.Switch{{Name: "spine", Switches: names("leaf[1-4]")}},
		Priority: Priority{
			DecayHalfLife: "14-0", Age: 1000, FairShare: 20000, JobSize: 500, Partition: 1000, QOS: 10000,
			TRES: map[string]int{"gres/gpu": 2000, "cpu": 10}, Flags: []string{"MAX_TRES"},
		},
		Preemption:  &Preemption{By: "qos", Mode: "requeue", ExemptTime: "00:10:00"},
		PrivateTmp:  &PrivateTmp{BasePath: "/local/slurm-tmp"},
		HealthCheck: &HealthCheck{Program: "/usr/sbin/nhc", NodeState: "CYCLE"},
		Paths:       Paths{StateSaveLocation: "/shared/slurmctld"},
		Extra: map[string]map[string]string{
			"slurm.conf": {"MaxArraySize": "5000", "SlurmctldParameters": "node_reg_mem_percent=95", "MaxJobCount": "50000"},
		},
	}
	for i := range c.Nodes {
		c.Nodes[i].Addr = fmt.Sprintf("10.0.1.%d", i+1)
	}
	for i := range 4 {
		leaf := topology.Switch{Name: fmt.Sprintf("leaf%d", i+1)}
		for _, n := range c.Nodes[16*i : 16*i+16] {
			leaf.Nodes = append(leaf.Nodes, n.Name)
		}
		c.Topology = append(c.Topology, leaf)
	}
	return c
}

// mixedCluster has hosts without GPUs, with unequal counts and with two types.
func mixedCluster(v Version) Cluster {
	c := Cluster{
		Name: "mixed", Version: v, Controllers: []Controller{{Name: "ctl"}},
		Accounting: &Accounting{Host: "dbd.site", External: true, Port: 7819, Enforce: []string{}},
		Nodes:      append(nodes("gpu[001-016]", h100), nodes("cpu[1-2]", cpuOnly)...),
		NodeSets:   []NodeSet{{Name: "gpus", Nodes: names("gpu[001-016]")}},
		Partitions: []Partition{
			{Name: "all", Nodes: names("cpu[1-2]"), NodeSets: []string{"gpus"}, Default: true},
			{Name: "empty"},
		},
	}
	for _, i := range []int{4, 10} {
		c.Nodes[i].GPUs = []GPUSet{{Type: "h100", Count: 4}}
	}
	two := a100
	two.Name = "two1"
	two.GPUs = []GPUSet{{Type: "a100", Count: 4}, {Type: "a30", Count: 4, FirstDevice: 4}}
	c.Nodes = append(c.Nodes, two)
	c.Partitions[0].Nodes = append(c.Partitions[0].Nodes, "two1")
	return c
}

// severalPerHostCluster has simulated nodes that share hosts.
func severalPerHostCluster(v Version) Cluster {
	c := Cluster{
		Name: "several", Version: v, Overrides: LabOverrides(), Controllers: []Controller{{Name: "ctl"}},
		Nodes:      nodes("n[001-100]", labGPU),
		Partitions: []Partition{{Name: "all", Nodes: names("n[001-100]"), Default: true}},
		Topology:   []topology.Switch{{Name: "top", Switches: names("s[1-2]")}, {Name: "s1", Nodes: names("n[001-050]")}, {Name: "s2", Nodes: names("n[051-100]")}},
	}
	for i := range c.Nodes {
		c.Nodes[i].Hostname = fmt.Sprintf("t%d", i/50+1)
		c.Nodes[i].Port = 17001 + i%50
	}
	return c
}
