package config

import (
	"iter"
	"maps"
	"net"
	"strconv"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// SlurmCluster is the Slurm side of an environment as the renderer takes it.
// The environment has a slurm section and is valid.
func (e *Environment) SlurmCluster() slurmconf.Cluster {
	s := e.Slurm
	hosts := e.AllHosts()
	version, _ := slurmconf.ParseVersion(s.Version)
	cluster := slurmconf.Cluster{
		Name:        s.ClusterName,
		Version:     version,
		Controllers: slurmControllers(hosts),
		Accounting:  e.slurmAccounting(hosts),
		Nodes:       slurmNodes(hosts),
		Topology:    e.switches(),
		Priority:    s.Priority.slurm(),
		Preemption:  s.Preemption.slurm(),
		Paths:       slurmconf.Paths{StateSaveLocation: s.StateSaveLocation},
		Extra:       s.Extra,
	}
	for _, partition := range s.Partitions {
		cluster.Partitions = append(cluster.Partitions, partition.slurm())
	}
	if h := s.HealthCheck; h != nil {
		cluster.HealthCheck = &slurmconf.HealthCheck{Program: h.Program, Seconds: h.Interval, NodeState: h.NodeState}
	}
	if s.PrivateTmp {
		cluster.PrivateTmp = &slurmconf.PrivateTmp{}
	}
	if e.Lab != nil {
		cluster.Overrides = slurmconf.LabOverrides()
	}
	return cluster
}

func slurmControllers(hosts []Host) []slurmconf.Controller {
	var out []slurmconf.Controller
	for host := range withRole(hosts, RoleController) {
		out = append(out, slurmconf.Controller{Name: host.Name, Addr: host.Address})
	}
	return out
}

func withRole(hosts []Host, role Role) iter.Seq[*Host] {
	return func(yield func(*Host) bool) {
		for i := range hosts {
			if hosts[i].Has(role) && !yield(&hosts[i]) {
				return
			}
		}
	}
}

// slurmAccounting is nil where nothing keeps job records.
func (e *Environment) slurmAccounting(hosts []Host) *slurmconf.Accounting {
	database := e.Slurm.Database
	if database != nil && database.Slurmdbd != "" {
		host, port := splitHostPort(database.Slurmdbd)
		return &slurmconf.Accounting{Host: host, Port: port, External: true}
	}
	var accounting *slurmconf.Accounting
	for host := range withRole(hosts, RoleDatabase) {
		accounting = &slurmconf.Accounting{Host: host.Name}
	}
	if accounting == nil {
		return nil
	}
	if database != nil && database.MariaDB != nil {
		m := database.MariaDB
		accounting.Storage = slurmconf.Storage{Host: m.Host, Port: m.Port, Database: m.Database, User: m.User}
	}
	return accounting
}

func slurmNodes(hosts []Host) []slurmconf.Node {
	out := make([]slurmconf.Node, 0, len(hosts))
	for host := range withRole(hosts, RoleCompute) {
		p := &host.Profile
		node := slurmconf.Node{
			Name: host.Name, Addr: host.Address,
			Sockets: p.Sockets, CoresPerSocket: p.CoresPerSocket, ThreadsPerCore: p.ThreadsPerCore,
			RealMemoryMiB: p.UsableMemory.MiB(), Features: host.Features, Weight: host.Weight,
		}
		for _, gpu := range p.GPUs {
			node.GPUs = append(node.GPUs, slurmconf.GPUSet{
				Type: gpu.Type, Count: gpu.Count, FirstDevice: valueOr(gpu.FirstDevice, 0),
			})
		}
		out = append(out, node)
	}
	return out
}

// switches are the fabric as the environment describes it.
func (e *Environment) switches() []topology.Switch {
	if e.Topology == nil {
		return nil
	}
	var out []topology.Switch
	for _, s := range e.Topology.Switches {
		out = append(out, topology.Switch{Name: s.Name, Nodes: expand(s.Hosts), Switches: expand(s.Switches)})
	}
	return out
}

func (p Partition) slurm() slurmconf.Partition {
	return slurmconf.Partition{
		Name: p.Name, Nodes: expand(p.Hosts), Default: p.Default,
		MaxTime: p.MaxTime, DefaultTime: p.DefaultTime, MinNodes: p.MinNodes, MaxNodes: p.MaxNodes,
		PriorityJobFactor: p.PriorityJobFactor, OverSubscribe: p.OverSubscribe, PreemptMode: p.PreemptMode,
		GraceTimeSeconds: p.GraceTime, State: p.State, DefMemPerCPUMiB: p.DefMemPerCPU.MiB(), AllowGroups: p.AllowGroups,
		PriorityTier:    p.PriorityTier,
		DefMemPerGPUMiB: p.DefMemPerGPU.MiB(), DefCPUPerGPU: p.DefCPUPerGPU,
		AllowAccounts: p.AllowAccounts, AllowQOS: p.AllowQOS, QOS: p.QOS, Extra: p.Extra,
	}
}

func (p *Priority) slurm() slurmconf.Priority {
	if p == nil {
		return slurmconf.Priority{}
	}
	return slurmconf.Priority{
		DecayHalfLife: p.DecayHalfLife, MaxAge: p.MaxAge, FavorSmall: p.FavorSmall,
		CalcPeriod: p.CalcPeriod, Flags: p.Flags,
		Age: valueOr(p.Weights.Age, 0), FairShare: valueOr(p.Weights.FairShare, 0),
		JobSize: valueOr(p.Weights.JobSize, 0), Partition: p.Weights.Partition,
		QOS: valueOr(p.Weights.QOS, 0), TRES: maps.Clone(p.Weights.TRES),
	}
}

func (p *Preemption) slurm() *slurmconf.Preemption {
	if p == nil {
		return nil
	}
	return &slurmconf.Preemption{By: p.By, Mode: p.Mode, ExemptTime: p.ExemptTime}
}

// expand reads an expression that has been validated.
func expand(expression string) []string {
	names, err := hostlist.Expand(expression)
	if err != nil {
		return nil
	}
	return names
}

// splitHostPort reads host[:port]; a port that is not given is 0.
func splitHostPort(address string) (string, int) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address, 0
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return host, 0
	}
	return host, n
}
