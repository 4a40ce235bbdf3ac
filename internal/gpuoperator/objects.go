package gpuoperator

import (
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

// Namespaces are those of the operators. What runs there works on hosts, so their
// pods may do what a host's root can; they have to be there, with their labels,
// before the charts.
func Namespaces(c Cluster) []kubeobject.Object {
	all := []kubeobject.Object{kubeobject.Namespace(Namespace, kubeobject.Privileged)}
	if c.Adapters != nil {
		all = append(all, kubeobject.Namespace(NetworkNamespace, kubeobject.Privileged))
	}
	return all
}

// Objects are what the API server is given once the operators' definitions are
// there. It fails with [problem.List].
func Objects(c Cluster) ([]kubeobject.Object, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	if c.Adapters == nil {
		return nil, nil
	}
	policy, err := c.nicPolicy()
	return []kubeobject.Object{policy}, err
}

// Status is where an operator says whether its work is done.
type Status struct {
	// Path of the object in the API.
	Path string `json:"path"`
	// Name of it for people.
	Name string `json:"name"`
}

// Statuses are the objects whose .status.state becomes "ready".
func Statuses(c Cluster) []Status {
	all := []Status{{"/apis/nvidia.com/v1/clusterpolicies/cluster-policy", "ClusterPolicy"}}
	if c.DRA {
		all = []Status{{"/apis/nvidia.com/v1alpha1/gpuclusters/gpu-cluster", "GPUCluster"}}
	}
	if c.Adapters != nil {
		all = append(all, Status{"/apis/mellanox.com/v1alpha1/nicclusterpolicies/nic-cluster-policy", "NicClusterPolicy"})
	}
	return all
}

// Images lists the images that the operators ask for, by full name. The one of a
// driver is completed on each host by its release: "nvcr.io/nvidia/driver:VERSION-ubuntu24.04".
func Images(c Cluster) []string {
	images := []string{"nvcr.io/nvidia/gpu-operator:" + ChartVersion}
	if c.features() == FeaturesGPU {
		images = append(images, "registry.k8s.io/nfd/node-feature-discovery:v0.19.0")
	}
	if c.DRA {
		images = append(images, "nvcr.io/nvidia/dra-driver-nvidia-gpu:v0.5.0")
	} else {
		images = append(images, "nvcr.io/nvidia/k8s-device-plugin:v0.20.0")
	}
	if !c.ToolkitOnHosts {
		images = append(images, "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0")
	}
	if !c.WithoutMetrics {
		images = append(images, "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless")
	}
	if c.sliced() {
		images = append(images, "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.15.0")
	}
	if c.Driver.Operator {
		version := c.driver()["version"].(string)
		images = append(images, "nvcr.io/nvidia/driver:"+version+"-RELEASE", "nvcr.io/nvidia/cloud-native/k8s-driver-manager:v0.12.0")
	}
	if c.Adapters != nil {
		images = append(images, networkImages+"/network-operator:v"+NetworkChartVersion, networkImages+"/network-operator-init-container:"+networkTag,
			networkImages+"/k8s-rdma-shared-dev-plugin:"+networkTag)
		if c.features() == FeaturesNetwork {
			images = append(images, networkImages+"/node-feature-discovery:"+networkTag)
		}
		if c.Adapters.DriverVersion != "" {
			images = append(images, networkImages+"/doca-driver:"+c.Adapters.DriverVersion+"-RELEASE")
		}
	}
	slices.Sort(images)
	return images
}
