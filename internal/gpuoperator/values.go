package gpuoperator

import (
	"cmp"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

// The GPU Operator that is installed.
const (
	// ChartVersion is the release of the chart whose values [Values] writes.
	ChartVersion = "v26.7.0"
	// DriverVersion is the driver that belongs to it.
	DriverVersion = "595.91.07"
	// KernelModuleAuto leaves the choice of the kernel module to the operator.
	KernelModuleAuto = "auto"
	// Repository is where its makers have the chart.
	Repository = "https://helm.ngc.nvidia.com/nvidia"
	// ReleaseName is that of the chart, Namespace where it runs.
	ReleaseName = "gpu-operator"
	Namespace   = "gpu-operator"

	// GPUResource is what the device plugin calls a GPU.
	GPUResource = "nvidia.com/gpu"

	// pluginConfigs is the ConfigMap with the device plugin's configurations, and
	// plain the one of nodes that name none.
	pluginConfigs = "gpucluster-device-plugin"
	plain         = "plain"
)

// Values are those of the GPU Operator's chart that differ from its own, or that
// must not follow when those change. It fails with [problem.List].
func Values(c Cluster) (map[string]any, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	withGPUs := c.tolerations()
	values := map[string]any{
		"operator": map[string]any{
			// Definitions are renewed by a step of ours, before the chart.
			"upgradeCRD": false,
			// With the definitions everything of their kinds would go.
			"cleanupCRD": false,
		},
		"nfd": map[string]any{"enabled": c.features() == FeaturesGPU},
		"node-feature-discovery": map[string]any{"worker": map[string]any{
			"tolerations": append([]toleration{{Key: controlPlane, Operator: "Exists", Effect: "NoSchedule"}}, withGPUs...),
			"config":      discovery,
		}},
		// The namespace has its labels before the operator is there.
		"psa":           map[string]any{"enabled": false},
		"cdi":           map[string]any{"enabled": !c.WithoutCDI},
		"clusterPolicy": map[string]any{"deployCR": !c.DRA},
		"gpuCluster":    map[string]any{"deployCR": c.DRA},
		"daemonsets": map[string]any{
			"tolerations":    withGPUs,
			"updateStrategy": "RollingUpdate",
			// Each toolkit restarts its host's containerd: one host at a time.
			"rollingUpdate": map[string]any{"maxUnavailable": "1"},
		},
		"driver":  c.driver(),
		"toolkit": c.toolkit(),
		"gfd":     map[string]any{"enabled": !c.DRA},
		"mig":     map[string]any{"strategy": c.strategy()},
		"migManager": map[string]any{
			"enabled": c.sliced(),
			// What the node's label does not name stays whole.
			"config": map[string]any{"default": "all-disabled"},
		},
		"devicePlugin": c.plugin(),
		"dcgmExporter": c.exporter(),
	}
	return values, nil
}

// discovery has the classes of devices that both operators look for: network
// adapters, InfiniBand ones among them, and GPUs.
var discovery = map[string]any{"sources": map[string]any{"pci": map[string]any{
	"deviceClassWhitelist": []string{"02", "0200", "0207", "0300", "0302"},
	"deviceLabelFields":    []string{"vendor"},
}}}

const controlPlane = "node-role.kubernetes.io/control-plane"

func (c Cluster) features() Features { return cmp.Or(c.NodeFeatures, FeaturesGPU) }

func (c Cluster) driver() map[string]any {
	driver := map[string]any{"enabled": c.Driver.Operator}
	if !c.Driver.Operator {
		return driver
	}
	driver["version"] = cmp.Or(c.Driver.Version, DriverVersion)
	driver["kernelModuleType"] = cmp.Or(c.Driver.KernelModule, KernelModuleAuto)
	// Claims take the driver described by an object of its own.
	driver["nvidiaDriverCRD"] = map[string]any{"enabled": c.DRA}
	// Pods get the adapters' memory only where the GPUs' driver knows their driver.
	driver["rdma"] = map[string]any{"enabled": c.Adapters != nil, "useHostMofed": c.Adapters != nil && c.Adapters.DriverVersion == ""}
	return driver
}

// toolkit writes its own file in containerd's conf.d, where the chart has it. Where
// devices are not handed over by CDI, its runtime has to run every container.
func (c Cluster) toolkit() map[string]any {
	toolkit := map[string]any{"enabled": !c.ToolkitOnHosts}
	if c.WithoutCDI && !c.ToolkitOnHosts {
		toolkit["env"] = []any{map[string]any{"name": "NVIDIA_RUNTIME_SET_AS_DEFAULT", "value": "true"}}
	}
	return toolkit
}

func (c Cluster) strategy() string {
	switch {
	case !c.sliced():
		return "none"
	case c.MixedMIG:
		return "mixed"
	}
	return "single"
}

// plugin is the device plugin. A node says by its label which configuration is
// its own.
func (c Cluster) plugin() map[string]any {
	plugin := map[string]any{"enabled": !c.DRA}
	shares := c.shares()
	if len(shares) == 0 {
		return plugin
	}
	data := map[string]any{plain: "version: v1\n"}
	for _, n := range shares {
		text, err := kubeobject.AsYAML(pluginConfig(n))
		if err != nil {
			// A value of fixed types always has a text.
			panic(err)
		}
		data[sharing(n)] = string(text)
	}
	plugin["config"] = map[string]any{"create": true, "name": pluginConfigs, "default": plain, "data": data}
	return plugin
}

// pluginConfig is the device plugin's own file. A pod may ask for several shares:
// the one that validates a host asks for all of them.
func pluginConfig(shares int) any {
	type resource struct {
		Name     string `json:"name"`
		Replicas int    `json:"replicas"`
	}
	type slicing struct {
		RenameByDefault            bool       `json:"renameByDefault"`
		FailRequestsGreaterThanOne bool       `json:"failRequestsGreaterThanOne"`
		Resources                  []resource `json:"resources"`
	}
	return struct {
		Version string             `json:"version"`
		Sharing map[string]slicing `json:"sharing"`
	}{"v1", map[string]slicing{"timeSlicing": {Resources: []resource{{GPUResource, shares}}}}}
}

func (c Cluster) exporter() map[string]any {
	monitor := map[string]any{"enabled": c.ServiceMonitors && !c.WithoutMetrics}
	if len(c.MonitorLabels) > 0 {
		monitor["additionalLabels"] = c.MonitorLabels
	}
	return map[string]any{"enabled": !c.WithoutMetrics, "serviceMonitor": monitor}
}
