package gpuoperator

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

// Cluster is what the operators look after. The zero value of a field means what
// its comment says.
type Cluster struct {
	// Kubernetes is the release, such as "v1.36.3".
	Kubernetes string
	// Workers are the hosts with GPUs or, with Adapters, all that run pods.
	Workers []Worker
	// Driver says who installs the GPUs' driver, and which.
	Driver Driver
	// ToolkitOnHosts says that the hosts have the container toolkit, with its file
	// in containerd's conf.d. Default: the operator installs it.
	ToolkitOnHosts bool
	// NodeFeatures says whose Node Feature Discovery runs. Default [FeaturesGPU].
	NodeFeatures Features
	// DRA has pods ask for GPUs by resource claims. Default: by the device plugin.
	DRA bool
	// WithoutCDI hands devices to containers by the runtime's hook alone.
	WithoutCDI bool
	// MixedMIG names slices by their size. Default: each is an nvidia.com/gpu.
	MixedMIG bool
	// WithoutMetrics leaves out DCGM's exporter.
	WithoutMetrics bool
	// ServiceMonitors has the exporter watched by Prometheus, with these labels.
	// The definitions of the Prometheus Operator must be there.
	ServiceMonitors bool
	MonitorLabels   map[string]string
	// Adapters says how pods reach InfiniBand or RoCE. Default: not.
	Adapters *Adapters
}

// Worker is a host that runs pods.
type Worker struct {
	// Name of the host.
	Name string
	// GPUType of its GPUs, and how many. None: the host has no GPUs.
	GPUType string
	GPUs    int
	// Taints of the host, which what runs on it for its GPUs has to tolerate.
	Taints []kubeobject.Taint
	// Slice is the size into which each GPU is cut, such as "1g.10gb". Default: none
	// is cut.
	Slice string
	// Shares is how many pods take turns on each GPU. Default: one.
	Shares int
}

// Driver is the GPUs' driver.
type Driver struct {
	// Operator says that the operator installs it. Default: the hosts have it.
	Operator bool
	// Version, and the KernelModule: "auto", "open" or "proprietary". Default, with
	// Operator: [DriverVersion] and [KernelModuleAuto].
	Version, KernelModule string
}

// Features says whose Node Feature Discovery runs.
type Features string

// Whose Node Feature Discovery runs.
const (
	FeaturesGPU      Features = "gpu-operator"
	FeaturesNetwork  Features = "network-operator"
	FeaturesExisting Features = "existing"
)

// Adapters are InfiniBand or RoCE adapters that pods share.
type Adapters struct {
	// DriverVersion is the DOCA-OFED that the Network Operator installs. Default:
	// the hosts have it.
	DriverVersion string
	// Interfaces that pods may use. Default: those of NVIDIA's adapters.
	Interfaces []string
}

// Labels by which a node's own agents know what to make of its GPUs.
const (
	// SliceLabel names the layout that the MIG manager gives a node's GPUs.
	SliceLabel = "nvidia.com/mig.config"
	// PluginLabel names the configuration of a node's device plugin.
	PluginLabel = "nvidia.com/device-plugin.config"
)

// Labels are those that the node of a worker must have.
func (w Worker) Labels() map[string]string {
	labels := map[string]string{}
	if w.Slice != "" {
		labels[SliceLabel] = "all-" + w.Slice
	}
	if w.Shares > 1 {
		labels[PluginLabel] = sharing(w.Shares)
	}
	return labels
}

// Devices is how many nvidia.com/gpu the node of a worker offers.
func (c Cluster) Devices(w Worker) int {
	switch {
	case c.DRA || c.MixedMIG && w.Slice != "":
		return 0
	case w.Slice != "":
		return w.GPUs * cmp.Or(slicesOf(w.GPUType)[w.Slice], 1)
	}
	return w.GPUs * max(w.Shares, 1)
}

// sharing names the device plugin's configuration for so many shares.
func sharing(shares int) string { return "shares-" + strconv.Itoa(shares) }

// shares lists the numbers of shares that workers have, in order.
func (c Cluster) shares() []int {
	var all []int
	for _, w := range c.Workers {
		if w.Shares > 1 {
			all = append(all, w.Shares)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (c Cluster) sliced() bool {
	return slices.ContainsFunc(c.Workers, func(w Worker) bool { return w.Slice != "" })
}

// toleration lets a pod run where a taint is.
type toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

// tolerations let what looks after hosts run on all of them: on those that are
// being validated, which is done on the GPUs that it offers, and on those that the
// environment keeps for some pods.
func (c Cluster) tolerations() []toleration {
	all := []toleration{
		{Key: GPUResource, Operator: "Exists", Effect: "NoSchedule"},
		{Key: "gpucluster/validating", Operator: "Exists", Effect: "NoSchedule"},
	}
	var further []toleration
	for _, w := range c.Workers {
		for _, taint := range w.Taints {
			if taint.Effect != "PreferNoSchedule" && taint.Key != GPUResource {
				further = append(further, toleration{taint.Key, "Equal", taint.Value, taint.Effect})
			}
		}
	}
	slices.SortFunc(further, func(a, b toleration) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Effect, b.Effect))
	})
	return append(all, slices.Compact(further)...)
}
