package config

import (
	"github.com/gpucluster/pulumi-gpucluster/internal/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

// InstallsGPUOperator tells whether the GPU Operator is installed.
func (k *Kubernetes) InstallsGPUOperator() bool {
	return k.GPUOperator != nil && valueOr(k.GPUOperator.Enabled, true)
}

// KubernetesGPUs is what the environment says of GPUs and adapters, as the values
// of NVIDIA's operators are made from. The environment has a kubernetes section
// with a GPU Operator and is valid.
func (e *Environment) KubernetesGPUs() gpuoperator.Cluster {
	cluster := e.gpuCluster()
	for _, host := range e.HostsWithRole(RoleWorker) {
		if len(host.Profile.GPUs) == 0 && cluster.Adapters == nil {
			continue
		}
		cluster.Workers = append(cluster.Workers, e.gpuWorker(&host))
	}
	return cluster
}

// gpuCluster is what holds for all hosts.
func (e *Environment) gpuCluster() gpuoperator.Cluster {
	k := e.Kubernetes
	cluster := gpuoperator.Cluster{Kubernetes: kubernetesPatches[k.Version]}
	if o := k.GPUOperator; o != nil {
		cluster.ToolkitOnHosts = o.Toolkit == OwnerHost
		cluster.NodeFeatures = gpuoperator.Features(o.NodeFeatures)
		cluster.DRA = o.Allocation == AllocationDRA
		cluster.WithoutCDI = !valueOr(o.CDI, true)
		cluster.MixedMIG = o.MIG != nil && o.MIG.Strategy == MIGMixed
		cluster.WithoutMetrics = !valueOr(o.Metrics, true)
		cluster.Driver = gpuoperator.Driver{Operator: o.Driver.Owner == OwnerOperator, Version: o.Driver.Version, KernelModule: o.Driver.KernelModule}
	}
	if m := k.Monitoring; m != nil {
		cluster.ServiceMonitors, cluster.MonitorLabels = m.ServiceMonitors, m.Labels
	}
	if k.RDMA != nil {
		cluster.Adapters = &gpuoperator.Adapters{DriverVersion: k.RDMA.DriverVersion, Interfaces: k.RDMA.Interfaces}
	}
	return cluster
}

func (e *Environment) gpuWorker(host *Host) gpuoperator.Worker {
	worker := gpuoperator.Worker{Name: host.Name}
	for _, gpu := range host.Profile.GPUs {
		worker.GPUType, worker.GPUs = gpu.Type, gpu.Count
	}
	for _, taint := range e.Hosts[host.Group].Taints {
		worker.Taints = append(worker.Taints, kubeobject.Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)})
	}
	if o := e.Kubernetes.GPUOperator; o != nil {
		worker.Shares = o.TimeSlicing[host.ProfileName]
		if o.MIG != nil {
			worker.Slice = o.MIG.Slices[host.ProfileName]
		}
	}
	return worker
}
