package config

// GPUOperator configures NVIDIA's GPU Operator, which gives the GPUs of workers
// to pods: it labels hosts with GPUs, and runs the container toolkit, the device
// plugin and the exporter of metrics on them.
//
// A lab has none: its GPUs are simulated, and told to the cluster by a device
// plugin of the lab's own, which takes its place.
type GPUOperator struct {
	// Enabled says whether it is installed. Default true where workers have GPUs.
	// With false, something else has to give them to pods, or no worker with GPUs
	// passes its validation.
	Enabled *bool `yaml:"enabled,omitempty" json:"enabled,omitempty"`

	// Driver says who installs the GPUs' driver.
	Driver GPUDriver `yaml:"driver,omitempty" json:"driver,omitempty"`

	// Toolkit says who installs NVIDIA's container toolkit and its file in
	// /etc/containerd/conf.d. Default "operator".
	Toolkit GPUOwner `yaml:"toolkit,omitempty" json:"toolkit,omitempty" check:"enum=operator|host"`

	// NodeFeatures says who runs Node Feature Discovery, which finds the devices
	// of hosts. There is one in a cluster. Default "gpu-operator".
	NodeFeatures NodeFeatures `yaml:"nodeFeatures,omitempty" json:"nodeFeatures,omitempty" check:"enum=gpu-operator|network-operator|existing"`

	// Allocation says how pods ask for GPUs. Default "device-plugin".
	Allocation GPUAllocation `yaml:"allocation,omitempty" json:"allocation,omitempty" check:"enum=device-plugin|dra"`

	// CDI has devices handed to containers by the Container Device Interface.
	// Default true.
	CDI *bool `yaml:"cdi,omitempty" json:"cdi,omitempty"`

	// MIG cuts GPUs into slices. Default: no GPU is cut.
	MIG *MIG `yaml:"mig,omitempty" json:"mig,omitempty"`

	// TimeSlicing is how many pods share each GPU in turn, by name of a profile.
	// Nothing keeps them from each other's memory. Default: one pod a GPU.
	TimeSlicing map[string]int `yaml:"timeSlicing,omitempty" json:"timeSlicing,omitempty" check:"min=2,max=48"`

	// Metrics has DCGM's exporter run on hosts with GPUs. Default true.
	Metrics *bool `yaml:"metrics,omitempty" json:"metrics,omitempty"`

	// Timeout is how long a run waits until the GPUs of all hosts are ready, as a
	// Go duration. Images are pulled within it, of which that of a driver is
	// large. Default "30m".
	Timeout string `yaml:"timeout,omitempty" json:"timeout,omitempty"`
}

// GPUDriver says who installs the driver, and which.
type GPUDriver struct {
	// Owner is "host" where the hosts have it already, and "operator" where it is
	// compiled or loaded by a container on each host; there are such containers
	// for Ubuntu and Red Hat, and none for Debian. Default "host".
	Owner GPUOwner `yaml:"owner,omitempty" json:"owner,omitempty" check:"enum=operator|host"`
	// Version such as "595.91.07", only with the operator's. Default: the one
	// that belongs to the operator's release. Another one takes GPUs from their
	// pods, one host after the other.
	Version string `yaml:"version,omitempty" json:"version,omitempty"`
	// KernelModule is "open", "proprietary" or "auto", only with the operator's.
	// Default "auto": what the GPU wants.
	KernelModule string `yaml:"kernelModule,omitempty" json:"kernelModule,omitempty" check:"enum=auto|open|proprietary"`
}

// GPUOwner is who looks after a part of what GPUs need.
type GPUOwner string

// Who looks after a part of what GPUs need.
const (
	// OwnerHost means that it is on the hosts already; nothing of ours touches it.
	OwnerHost GPUOwner = "host"
	// OwnerOperator means that an operator in the cluster installs it.
	OwnerOperator GPUOwner = "operator"
)

// NodeFeatures says who runs Node Feature Discovery.
type NodeFeatures string

// Who runs Node Feature Discovery.
const (
	// NodeFeaturesGPUOperator means the one in the GPU Operator's chart.
	NodeFeaturesGPUOperator NodeFeatures = "gpu-operator"
	// NodeFeaturesNetworkOperator means the one in the Network Operator's chart.
	NodeFeaturesNetworkOperator NodeFeatures = "network-operator"
	// NodeFeaturesExisting means that somebody else runs it.
	NodeFeaturesExisting NodeFeatures = "existing"
)

// GPUAllocation says how pods ask for GPUs.
type GPUAllocation string

// How pods ask for GPUs.
const (
	// AllocationDevicePlugin means as the resource nvidia.com/gpu, which quotas
	// count.
	AllocationDevicePlugin GPUAllocation = "device-plugin"
	// AllocationDRA means by resource claims, which no quota counts: only with
	// queueing none. It is an experiment of the operator's makers.
	AllocationDRA GPUAllocation = "dra"
)

// MIG says into what slices GPUs are cut.
type MIG struct {
	// Strategy says how pods ask for slices. Default "single".
	Strategy MIGStrategy `yaml:"strategy,omitempty" json:"strategy,omitempty" check:"enum=single|mixed"`
	// Slices by name of a profile, such as "1g.10gb": each GPU of its hosts is cut
	// into as many of that size as there is room for.
	Slices map[string]string `yaml:"slices" json:"slices"`
}

// MIGStrategy says how pods ask for slices of GPUs.
type MIGStrategy string

// How pods ask for slices of GPUs.
const (
	// MIGSingle means as nvidia.com/gpu: each slice is one.
	MIGSingle MIGStrategy = "single"
	// MIGMixed means by size, as nvidia.com/mig-1g.10gb; only with queueing none,
	// since quotas count nvidia.com/gpu.
	MIGMixed MIGStrategy = "mixed"
)

// RDMA gives pods the hosts' InfiniBand or RoCE adapters, as the resource
// rdma/fabric, through NVIDIA's Network Operator. Any number of pods share them,
// so no quota counts them.
type RDMA struct {
	// Driver says who installs the adapters' driver (DOCA-OFED). Default "host".
	Driver GPUOwner `yaml:"driver,omitempty" json:"driver,omitempty" check:"enum=operator|host"`
	// DriverVersion is the DOCA-OFED that the operator installs, such as
	// "doca3.4.0-26.04-0.8.6.0-1"; required with it, and given only then.
	DriverVersion string `yaml:"driverVersion,omitempty" json:"driverVersion,omitempty"`
	// Interfaces of the hosts that pods may use, by name, as "ib0". Default: all
	// of NVIDIA's adapters.
	Interfaces []string `yaml:"interfaces,omitempty" json:"interfaces,omitempty"`
}

// Monitoring says what tells of the cluster's work.
type Monitoring struct {
	// MetricsServer runs metrics-server, by which "kubectl top" and
	// HorizontalPodAutoscalers know what pods use. Without it again, what was made
	// stays. Default false.
	MetricsServer bool `yaml:"metricsServer,omitempty" json:"metricsServer,omitempty"`
	// ServiceMonitors has the parts of the cluster watched by a Prometheus that
	// the Prometheus Operator runs. Its definitions have to be there: a run stops
	// before anything that needs them when they are not. Default false.
	ServiceMonitors bool `yaml:"serviceMonitors,omitempty" json:"serviceMonitors,omitempty"`
	// Labels that the Prometheus looks for on ServiceMonitors, as
	// "release: prometheus". Default: none.
	Labels map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`
}
