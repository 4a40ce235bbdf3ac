package config

import (
	"net"
	"slices"
	"strconv"

	"github.com/gpucluster/pulumi-gpucluster/internal/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
)

// Defaults of a Kubernetes cluster.
const (
	defaultPodCIDR          = "10.244.0.0/16"
	defaultServiceCIDR      = "10.96.0.0/16"
	defaultEvictionDeadline = "30m"
	defaultTeamWeight       = 1
	defaultGPUTimeout       = "30m"
	defaultUpgradeAtOnce    = 1

	// apiPort is where the API server listens.
	apiPort = 6443

	// labArtifacts is the server of a lab that has all that Kubernetes needs.
	labArtifacts = "http://artifacts:5000"
)

// What a host keeps for the system's daemons: a part of what it has, between
// bounds. A lab's hosts keep the least, since they have not what they say.
const (
	reservedMillisPerThread = 10
	leastReservedMillis     = 100
	mostReservedMillis      = 4000
	reservedMemoryPercent   = 2
	leastReservedMemory     = 256 * MiB
	mostReservedMemory      = 16 * GiB
)

func (e *Environment) setKubernetesDefaults() {
	k := e.Kubernetes
	set(&k.PodCIDR, defaultPodCIDR)
	set(&k.ServiceCIDR, defaultServiceCIDR)
	set(&k.EvictionDeadline, defaultEvictionDeadline)
	set(&k.UpgradeAtOnce, defaultUpgradeAtOnce)
	set(&k.Queueing, QueueingKueue)
	switch planes := e.HostsWithRole(RoleControlPlane); {
	case len(planes) == 1:
		set(&k.Endpoint, net.JoinHostPort(planes[0].Name, strconv.Itoa(apiPort)))
	case len(planes) > 1:
		set(&k.Endpoint, kubeconf.LocalEndpoint)
	}
	if k.SystemReserved == nil && len(e.Profiles) > 0 {
		k.SystemReserved = map[string]Reserved{}
	}
	for name, profile := range e.Profiles {
		kept, usual := k.SystemReserved[name], profile.reserved(e.Lab != nil)
		setPointer(&kept.CPU, *usual.CPU)
		set(&kept.Memory, usual.Memory)
		k.SystemReserved[name] = kept
	}
	e.setGPUDefaults()
	for i := range k.Teams {
		set(&k.Teams[i].Namespace, k.Teams[i].Name)
	}
	if k.Queueing != QueueingNone {
		k.setQueueDefaults()
	}
}

// setQueueDefaults fills what only means something where jobs wait in queues.
func (k *Kubernetes) setQueueDefaults() {
	for i := range k.Teams {
		set(&k.Teams[i].Weight, defaultTeamWeight)
	}
	if k.Preemption == nil {
		k.Preemption = &QueuePreemption{}
	}
	set(&k.Preemption.WithinTeam, TeamPreemptLower)
	set(&k.Preemption.Reclaim, ReclaimAny)
}

// setGPUDefaults has the GPUs of servers given to pods.
func (e *Environment) setGPUDefaults() {
	k := e.Kubernetes
	if k.RDMA != nil {
		set(&k.RDMA.Driver, OwnerHost)
	}
	if k.GPUOperator == nil {
		if e.Lab != nil || !e.workersHaveGPUs() {
			return
		}
		k.GPUOperator = &GPUOperator{}
	}
	o := k.GPUOperator
	setPointer(&o.Enabled, true)
	set(&o.Driver.Owner, OwnerHost)
	if o.Driver.Owner == OwnerOperator {
		set(&o.Driver.Version, gpuoperator.DriverVersion)
		set(&o.Driver.KernelModule, gpuoperator.KernelModuleAuto)
	}
	set(&o.Toolkit, OwnerOperator)
	set(&o.NodeFeatures, NodeFeaturesGPUOperator)
	set(&o.Allocation, AllocationDevicePlugin)
	setPointer(&o.CDI, true)
	if o.MIG != nil {
		set(&o.MIG.Strategy, MIGSingle)
	}
	setPointer(&o.Metrics, true)
	set(&o.Timeout, defaultGPUTimeout)
}

// workersHaveGPUs tells whether any worker does. Hosts that cannot be told are
// passed over.
func (e *Environment) workersHaveGPUs() bool {
	return slices.ContainsFunc(e.Hosts, func(group HostGroup) bool {
		return slices.Contains(group.Roles, RoleWorker) && len(e.Profiles[group.Profile].GPUs) > 0
	})
}

// reserved is what hosts of a profile keep where nothing is said.
func (p Profile) reserved(lab bool) Reserved {
	millis, memory := leastReservedMillis, leastReservedMemory
	if !lab {
		millis = min(max(p.threads()*reservedMillisPerThread, millis), mostReservedMillis)
		memory = min(max(p.Memory*reservedMemoryPercent/100, memory), mostReservedMemory)
	}
	cores := float64(millis) / 1000
	return Reserved{CPU: &cores, Memory: memory}
}

// threads is the number of hardware threads, which Kubernetes calls CPUs.
func (p Profile) threads() int { return p.Sockets * p.CoresPerSocket * p.ThreadsPerCore }

// setArtifactDefaults lets a lab's hosts take everything from the lab's server.
func (e *Environment) setArtifactDefaults() {
	if e.Lab == nil || e.Scheduler != SchedulerKubernetes {
		return
	}
	if e.Artifacts == nil {
		e.Artifacts = &Artifacts{}
	}
	set(&e.Artifacts.Registry, labArtifacts)
	set(&e.Artifacts.Binaries, labArtifacts+"/binaries")
	set(&e.Artifacts.Charts, LabCharts)
}
