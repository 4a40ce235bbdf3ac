package slurmconf

// Priority configures priority/multifactor.
type Priority struct {
	// DecayHalfLife after which past use counts half. Default "7-0".
	DecayHalfLife string
	// MaxAge at which waiting earns the whole age weight. Default "7-0".
	MaxAge string
	// FavorSmall prefers small jobs.
	FavorSmall bool
	// CalcPeriod between two computations. Default: Slurm's, 5 minutes.
	CalcPeriod string
	// Weights of the factors; 0 leaves one out.
	Age, FairShare, JobSize, Partition, QOS int
	// TRES weighs what a job asks for, for example "gres/gpu": 2000.
	TRES map[string]int
	// Flags is PriorityFlags.
	Flags []string
}

// Preemption lets jobs displace others.
type Preemption struct {
	// By is "qos" or "partition".
	By string
	// Mode is "requeue", "cancel" or "suspend".
	Mode string
	// ExemptTime is how long a job runs undisturbed. Empty: not at all.
	ExemptTime string
}

// Overrides adapt a cluster to hosts that are not real servers. The zero value
// is for real ones: cgroup v2 with systemd, hardware as declared.
type Overrides struct {
	// TrustDeclared makes slurmd believe the declared hardware instead of what
	// it finds (SlurmdParameters=config_overrides).
	TrustDeclared bool
	// CgroupPlugin is "" (found by itself), "cgroup/v1", "cgroup/v2" or
	// "disabled".
	CgroupPlugin string
	// NoDevices, NoMemory, NoSwap and NoCores leave out what the hosts' control
	// groups cannot confine.
	NoDevices, NoMemory, NoSwap, NoCores bool
	// IgnoreSystemd makes slurmd make its control groups itself.
	IgnoreSystemd bool
	// NoCgroups uses no control groups at all: nothing is confined.
	NoCgroups bool
}

// LabOverrides are for containers that play servers on one machine with
// cgroup v1: declared hardware is believed, and swap is left alone, since the
// machine's kernel does not account for it. Devices, cores and memory are
// confined as on real servers.
func LabOverrides() Overrides {
	return Overrides{TrustDeclared: true, CgroupPlugin: "cgroup/v1", NoSwap: true}
}
