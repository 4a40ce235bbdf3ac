package slurmconf

// Node is one compute host.
type Node struct {
	// Name is the node's name in Slurm.
	Name string
	// Addr is a literal address. Empty: the name resolves.
	Addr string
	// Hostname is the host that the node lives on, where that is not Name:
	// several simulated nodes share a host, each with its own Port.
	Hostname string
	// Port of its slurmd. 0: SlurmdPort.
	Port int
	// Sockets, CoresPerSocket and ThreadsPerCore are its processors.
	Sockets, CoresPerSocket, ThreadsPerCore int
	// RealMemoryMiB is the memory that jobs may use, at most what slurmd finds.
	RealMemoryMiB int64
	// GPUs are its accelerators, in the order of their device files.
	GPUs []GPUSet
	// Features are the names that jobs can ask for with --constraint.
	Features []string
	// Weight: lower is used first. 0 and 1 are Slurm's default. It overrides
	// topology.
	Weight int
	// State is the state at slurmctld's first start: "", "CLOUD", "FUTURE",
	// "DOWN" or "DRAIN".
	State string
	// Extra keys of the node's line, checked like Cluster.Extra.
	Extra map[string]string
}

// GPUSet is a number of equal GPUs of a node.
type GPUSet struct {
	// Type is what jobs ask for, as in "gpu:h100:4": lower case letters,
	// digits, "_", "-" and ".".
	Type string
	// Count is how many there are.
	Count int
	// FirstDevice is the number of the first device file. The files are
	// DevicePrefix with the numbers from it on.
	FirstDevice int
	// DevicePrefix is the path before that number. Default "/dev/nvidia".
	DevicePrefix string
	// Files names the device files instead, one a GPU.
	Files []string
	// MultipleFiles names all files of one GPU, as a MIG instance has them;
	// Count is then 1.
	MultipleFiles []string
	// Cores are the socket's core numbers (not CPU ids) close to these GPUs,
	// as "0-31". Optional.
	Cores string
	// Links are the numbers of links to each GPU of the node, -1 for the GPU
	// itself. Optional, and only for a set of one GPU.
	Links []int
}

// NodeSet names nodes for partitions to refer to.
type NodeSet struct {
	// Name of the set; not that of a node.
	Name string
	// Nodes are the members' names.
	Nodes []string
	// Feature makes every node that has it a member.
	Feature string
}

// Partition is a queue.
type Partition struct {
	// Name of the partition.
	Name string
	// Nodes and NodeSets are its members. Both empty: it has none.
	Nodes    []string
	NodeSets []string
	// Default makes it the partition of jobs that name none.
	Default bool
	// MaxTime and DefaultTime in Slurm's time format, or "UNLIMITED". Empty:
	// Slurm's default, unlimited and MaxTime.
	MaxTime, DefaultTime string
	// MinNodes and MaxNodes bound one job. 0: no bound.
	MinNodes, MaxNodes int
	// PriorityTier orders partitions for scheduling. 0: Slurm's default, 1.
	PriorityTier int
	// PriorityJobFactor feeds the partition's weight. 0: Slurm's default, 1.
	PriorityJobFactor int
	// DefMemPerGPUMiB and DefCPUPerGPU are what a job gets with each GPU if it
	// asks for none.
	DefMemPerGPUMiB int64
	DefCPUPerGPU    int
	// DefMemPerCPUMiB is what a job gets with each CPU.
	DefMemPerCPUMiB int64
	// AllowAccounts, AllowGroups and AllowQOS restrict who may use it.
	AllowAccounts, AllowGroups, AllowQOS []string
	// QOS whose limits apply to the partition as a whole.
	QOS string
	// OverSubscribe is "NO" (default), "EXCLUSIVE", "YES[:n]" or "FORCE[:n]".
	OverSubscribe string
	// PreemptMode of its jobs, where preemption goes by partition.
	PreemptMode string
	// GraceTimeSeconds between the warning and the end of a displaced job.
	GraceTimeSeconds int
	// State is "UP" (default), "DOWN", "DRAIN" or "INACTIVE".
	State string
	// Extra keys of the partition's line, checked like Cluster.Extra.
	Extra map[string]string
}

// CPUs is the number of hardware threads.
func (n Node) CPUs() int { return n.Sockets * n.CoresPerSocket * n.ThreadsPerCore }

// GPUCount is the number of GPUs of every type.
func (n Node) GPUCount() int {
	total := 0
	for _, g := range n.GPUs {
		total += g.Count
	}
	return total
}
