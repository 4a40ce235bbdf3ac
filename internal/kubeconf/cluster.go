package kubeconf

import (
	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// Cluster is everything the file set says. The zero value of a field means what
// its comment says.
type Cluster struct {
	// Name is the name of the cluster, a DNS label. It cannot change while the
	// cluster exists.
	Name string
	// Version of Kubernetes, such as "v1.36.3"; from v1.34 on.
	Version string
	// Endpoint is where every host reaches the API, as host:port: the only
	// control plane, what stands before several, or [LocalEndpoint]. It cannot
	// change while the cluster exists.
	Endpoint string
	// PodCIDR holds the addresses of pods; each node has a /24 of it. Default
	// "10.244.0.0/16". It cannot change while the cluster exists.
	PodCIDR string
	// ServiceCIDR holds the addresses of services. Default "10.96.0.0/16". It
	// cannot change while the cluster exists.
	ServiceCIDR string
	// ControlPlanes run the API and etcd; the first is where the cluster begins.
	ControlPlanes []Node
	// Workers run pods. Each registers closed, with [ValidatingTaint].
	Workers []Node
	// Registry is the URL of the mirror from which every image comes, such as
	// "http://artifacts:5000". Empty: each image comes from where its name says.
	Registry string
	// Images name what kubeadm would choose otherwise.
	Images Images
	// Overrides adapt the cluster to hosts that are not real servers.
	Overrides Overrides
}

// Images are names and tags of images. The zero value of a field is the default
// that its comment names.
type Images struct {
	// EtcdTag is the tag of registry.k8s.io/etcd: what kubeadm chooses.
	EtcdTag string
	// Pause is the image of pod sandboxes: "registry.k8s.io/pause:3.10.2".
	Pause string
	// Flannel is the image of the pod network: "ghcr.io/flannel-io/flannel:v0.28.4".
	Flannel string
	// SimulatedGPUs is the image of the lab's device plugin, which takes the place
	// of the GPU Operator. Empty: none runs.
	SimulatedGPUs string
	// MetricsServer is the image of metrics-server. Empty: none runs.
	MetricsServer string
}

// MetricsServerImage is the metrics-server that belongs to these releases of
// Kubernetes.
const MetricsServerImage = "registry.k8s.io/metrics-server/metrics-server:" + artifacts.MetricsServerVersion

// Node is a host as a member of the cluster.
type Node struct {
	// Name is the short host name, and the name of the node.
	Name string
	// Address is the node's IPv4 address. Empty: that of the interface with the
	// default route.
	Address string
	// Labels that the node registers with. kubelet may not set labels of
	// kubernetes.io and k8s.io, but those of node.kubernetes.io and
	// kubelet.kubernetes.io.
	Labels map[string]string
	// Taints that the node registers with, beside the one of its kind.
	Taints []Taint
	// Reserved is kept from pods. A change reaches a node when it joins anew.
	Reserved Reserved
}

// Taint keeps pods away that do not tolerate it.
type Taint struct {
	// Key such as "nvidia.com/gpu", and its Value, which may be empty.
	Key, Value string
	// Effect is "NoSchedule", "PreferNoSchedule" or "NoExecute".
	Effect string
}

// ValidatingTaint is on each worker that registers: until it is taken away, only
// the pod that validates the host runs there.
var ValidatingTaint = Taint{Key: "gpucluster/validating", Effect: "NoSchedule"}

// controlPlaneTaint is the one that kubeadm itself would set.
var controlPlaneTaint = Taint{Key: "node-role.kubernetes.io/control-plane", Effect: "NoSchedule"}

// Reserved are resources of a node for what is no pod: the system and the node's
// daemons. Zero values reserve nothing.
type Reserved struct {
	// MilliCPU is in thousandths of a processor, as the kernel counts them.
	MilliCPU int
	// MemoryMiB is memory in MiB.
	MemoryMiB int
	// StorageMiB is space on the disk of /var/lib/kubelet in MiB.
	StorageMiB int
}

const (
	defaultPodCIDR     = "10.244.0.0/16"
	defaultServiceCIDR = "10.96.0.0/16"
	defaultPause       = "registry.k8s.io/pause:3.10.2"
	defaultFlannel     = "ghcr.io/flannel-io/flannel:v0.28.4"
	apiPort            = 6443
)

// LabImages are what only a lab needs. All else its server of artifacts has as
// kubeadm would choose it.
func LabImages() Images { return Images{SimulatedGPUs: artifacts.DevicePluginImage} }

func (c Cluster) withDefaults() Cluster {
	for _, d := range []struct {
		field *string
		value string
	}{
		{&c.PodCIDR, defaultPodCIDR}, {&c.ServiceCIDR, defaultServiceCIDR},
		{&c.Images.Pause, defaultPause}, {&c.Images.Flannel, defaultFlannel},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	return c
}
