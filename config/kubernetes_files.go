package config

import (
	"cmp"
	"maps"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// NodeLabels are the labels that a node of the environment has: those of
// its group, its type of GPU, and the switches above it.
func (n KubernetesNode) NodeLabels() map[string]string {
	labels := maps.Clone(n.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[queues.GPULabel] = cmp.Or(n.GPUType, queues.NoGPU)
	for level, name := range n.Switches {
		labels[queues.SwitchLabel(level)] = name
	}
	return labels
}

// KubernetesFiles is the environment's cluster as its files are rendered from.
// The environment has a kubernetes section and is valid.
func (e *Environment) KubernetesFiles() kubeconf.Cluster {
	model := e.KubernetesCluster()
	cluster := kubeconf.Cluster{
		Name: model.Name, Version: model.Version, Endpoint: model.Endpoint, PodCIDR: model.PodCIDR, ServiceCIDR: model.ServiceCIDR,
		ControlPlanes: rendered(model.ControlPlanes), Workers: rendered(model.Workers), Registry: model.Artifacts.Registry,
	}
	if model.Lab {
		cluster.Overrides = kubeconf.LabOverrides()
		cluster.Images = kubeconf.LabImages()
	}
	if m := e.Kubernetes.Monitoring; m != nil && m.MetricsServer {
		cluster.Images.MetricsServer = kubeconf.MetricsServerImage
	}
	return cluster
}

// rendered are nodes as their files are rendered from. Labels are given to nodes
// that have joined, so that they can change.
func rendered(nodes []KubernetesNode) []kubeconf.Node {
	all := make([]kubeconf.Node, len(nodes))
	for i, node := range nodes {
		all[i] = kubeconf.Node{Name: node.Name, Address: node.Address, Reserved: kubeconf.Reserved{MilliCPU: node.ReservedMilliCPU, MemoryMiB: int(node.ReservedMiB)}}
		for _, taint := range node.Taints {
			all[i].Taints = append(all[i].Taints, kubeconf.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)})
		}
	}
	return all
}
