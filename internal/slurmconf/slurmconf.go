package slurmconf

import (
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// slurmConfData is what the template of slurm.conf reads: text that is ready
// to print, empty where a key is left out.
type slurmConfData struct {
	Cluster
	Controllers                             []string
	SpoolDir, PidFile, ControllerPidFile    string
	SlurmdParameters                        string
	GresTypes, TopologyPlugin, DefMemPerCPU string
	Proctrack, TaskPlugin                   string
	JobAcctGather, GatherFrequency          string
	PrologFlags                             string
	TmpKey, TmpValue                        string
	Prolog, Epilog                          string
	MPI                                     string
	HealthProgram, HealthInterval           string
	HealthState                             string
	AccountingType, AccountingHost          string
	AccountingPort, AccountingEnforce       string
	AccountingTRES                          string
	PriorityTRES, PriorityFlags             string
	PreemptType, PreemptMode, PreemptExempt string
	NodeLines, NodeSetLines, PartitionLines string
}

func newSlurmConfData(c Cluster) slurmConfData {
	d := slurmConfData{
		Cluster:        c,
		SpoolDir:       c.spoolDir(),
		MPI:            c.MPIDefault,
		PriorityTRES:   weightedTRES(c.Priority.TRES),
		PriorityFlags:  strings.Join(c.Priority.Flags, ","),
		NodeLines:      nodeLines(c.Nodes),
		NodeSetLines:   nodeSetLines(c.NodeSets),
		PartitionLines: partitionLines(c.Partitions),
	}
	if root := rootPartition(c); len(root.Nodes) > 0 {
		d.PartitionLines += "\n" + root.line()
	}
	for _, ctl := range c.Controllers {
		host := ctl.Name
		if ctl.Addr != "" {
			host += "(" + ctl.Addr + ")"
		}
		d.Controllers = append(d.Controllers, host)
	}
	if c.severalPerHost() {
		d.PidFile = "/run/slurmd-%n.pid"
	}
	d.ControllerPidFile = pidFile(c.Version, "slurmctld")
	if c.Overrides.TrustDeclared {
		d.SlurmdParameters = "config_overrides"
	}
	if len(gpuTypes(c.Nodes)) > 0 {
		d.GresTypes = "gpu"
	}
	// An empty topology.conf stops slurmctld, and the name of the flat plugin
	// differs between releases: no line means flat everywhere.
	if topology.Text(c.Topology) != "" {
		d.TopologyPlugin = "topology/tree"
	}
	d.DefMemPerCPU = number64(c.memoryPerCPU())
	d.confinement()
	d.scripts()
	d.accounting()
	d.preemption()
	return d
}

// memoryPerCPU is the smallest share of memory that a CPU has on any node, so
// that a full host of jobs without a wish fits. 0 where the site sets the
// default memory of a job in another way, since Slurm takes only one.
func (c Cluster) memoryPerCPU() int64 {
	for key := range c.Extra["slurm.conf"] {
		if strings.EqualFold(key, "DefMemPerNode") || strings.EqualFold(key, "DefMemPerGPU") {
			return 0
		}
	}
	least := int64(0)
	for i := range c.Nodes {
		if share := c.Nodes[i].RealMemoryMiB / int64(c.Nodes[i].CPUs()); least == 0 || share < least {
			least = share
		}
	}
	return least
}

// pidFile is where a daemon that its unit starts as the slurm user can write;
// empty for the releases whose unit starts it as root.
func pidFile(v Version, daemon string) string {
	if !v.AtLeast(V2411) {
		return ""
	}
	return "/run/" + daemon + "/" + daemon + ".pid"
}

func (d *slurmConfData) confinement() {
	d.Proctrack, d.TaskPlugin = "proctrack/cgroup", "task/affinity,task/cgroup"
	d.PrologFlags = "Contain"
	if d.Overrides.NoCgroups {
		d.Proctrack, d.TaskPlugin = "proctrack/linuxproc", "task/affinity"
		d.PrologFlags = "Alloc"
	}
	if d.PrivateTmp != nil {
		d.TmpKey, d.TmpValue = "JobContainerType", "job_container/tmpfs"
		if d.Version.AtLeast(V2511) {
			d.TmpKey, d.TmpValue = "NamespaceType", "namespace/tmpfs"
		}
	}
}

func (d *slurmConfData) scripts() {
	d.Prolog, d.Epilog = "prolog.sh", "epilog.sh"
	if !d.Version.ConfiglessPushesScripts() {
		d.Prolog, d.Epilog = d.Paths.ConfigDir+"/prolog.sh", d.Paths.ConfigDir+"/epilog.sh"
	}
	if h := d.HealthCheck; h != nil {
		d.HealthProgram, d.HealthInterval, d.HealthState = h.Program, number(h.Seconds), h.NodeState
	}
}

func (d *slurmConfData) accounting() {
	a := d.Cluster.Accounting
	if a == nil {
		return
	}
	d.AccountingType = "accounting_storage/slurmdbd"
	d.AccountingHost, d.AccountingPort = a.Host, number(a.Port)
	// What is gathered is stored with the job's record, so without a database
	// nothing is gathered.
	d.JobAcctGather, d.GatherFrequency = "jobacct_gather/cgroup", "task=30"
	if d.Overrides.NoCgroups {
		d.JobAcctGather = "jobacct_gather/linux"
	}
	d.AccountingEnforce = strings.Join(a.Enforce, ",")
	// Limits and billing on GPUs need each as a resource of its own.
	var tres []string
	for _, t := range gpuTypes(d.Nodes) {
		if len(tres) == 0 {
			tres = append(tres, "gres/gpu")
		}
		tres = append(tres, "gres/gpu:"+t)
	}
	d.AccountingTRES = mergeTokens(strings.Join(tres, ","), strings.Join(a.TRES, ","))
}

func (d *slurmConfData) preemption() {
	p := d.Preemption
	if p == nil {
		return
	}
	d.PreemptType = "preempt/qos"
	if p.By == "partition" {
		d.PreemptType = "preempt/partition_prio"
	}
	d.PreemptMode = strings.ToUpper(p.Mode)
	if d.PreemptMode == "SUSPEND" {
		d.PreemptMode = "SUSPEND,GANG"
	}
	d.PreemptExempt = p.ExemptTime
}
