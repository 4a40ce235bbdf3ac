package config

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"strconv"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// kubernetesPatches are the patches that are installed, by minor release.
var kubernetesPatches = map[string]string{"1.36": "v1.36.3", "1.37": "v1.37.2"}

// checkImage lists GPUs on real servers.
const checkImage = "nvcr.io/nvidia/cuda:12.8.1-base-ubuntu24.04"

// upstreamBinaries is where Kubernetes' makers have kubelet, kubeadm and kubectl.
const upstreamBinaries = "https://dl.k8s.io/"

// KubernetesCluster is what an environment says of its Kubernetes cluster, in
// plain facts: nothing in it has to be looked up elsewhere or filled in.
type KubernetesCluster struct {
	// Name of the environment.
	Name string `json:"name"`
	// Version is the release with its patch, for example "v1.36.3".
	Version string `json:"version"`
	// Endpoint is where the API is reached, as host:port.
	Endpoint string `json:"endpoint"`
	// PodCIDR and ServiceCIDR are the networks of pods and of services.
	PodCIDR     string `json:"podCIDR"`
	ServiceCIDR string `json:"serviceCIDR"`
	// EvictionDeadline is a Go duration.
	EvictionDeadline string `json:"evictionDeadline"`
	// UpgradeAtOnce is how many workers are upgraded at the same time.
	UpgradeAtOnce int `json:"upgradeAtOnce"`
	// Lab says that the hosts are containers of a lab.
	Lab bool `json:"lab"`
	// Artifacts says where images, binaries, charts and packages come from; what
	// is empty comes from its makers.
	Artifacts Artifacts `json:"artifacts"`
	// CheckImage is that of the pod which validates hosts: it lists GPUs by
	// nvidia-smi -L.
	CheckImage string `json:"checkImage"`
	// ControlPlanes and Workers in the order written. The first control plane
	// makes the cluster; the others join it.
	ControlPlanes []KubernetesNode `json:"controlPlanes"`
	Workers       []KubernetesNode `json:"workers"`
	// GPUs are the nvidia.com/gpu that all workers offer, by type.
	GPUs map[string]int `json:"gpus"`
	// GPUTimeout is how long a worker's GPUs may take until they are offered, as a
	// Go duration. Empty: no operator brings them.
	GPUTimeout string `json:"gpuTimeout,omitempty"`
	// Queueing says what admits jobs, and by which rules. Preemption is nil
	// without queueing.
	Queueing        Queueing         `json:"queueing"`
	Preemption      *QueuePreemption `json:"preemption,omitempty"`
	PriorityClasses []PriorityClass  `json:"priorityClasses,omitempty"`
	// Teams with all members resolved.
	Teams []KubernetesTeam `json:"teams,omitempty"`
}

// BinariesFolder is the URL of the folder with kubelet, kubeadm and kubectl of
// the release.
func (c KubernetesCluster) BinariesFolder() string {
	if c.Artifacts.Binaries != "" {
		return c.Artifacts.Binaries + "/" + c.Version
	}
	return upstreamBinaries + c.Version + "/bin/linux/amd64"
}

// KubernetesNode is a host of a Kubernetes cluster.
type KubernetesNode struct {
	// Name of the host and of its node.
	Name string `json:"name"`
	// Address is the host's IPv4 address; empty where the inventory gives none,
	// or gives a name.
	Address string `json:"address,omitempty"`
	// Profile is the name of the host's profile.
	Profile string `json:"profile"`
	// GPUType and GPUs say what the host has; a worker has one type. A control
	// plane has none to give.
	GPUType string `json:"gpuType,omitempty"`
	GPUs    int    `json:"gpus,omitempty"`
	// Devices is how many nvidia.com/gpu the node offers: its GPUs, or their slices
	// or shares.
	Devices int `json:"devices,omitempty"`
	// Labels and Taints of the host's group; labels also say how the host's GPUs are
	// cut or shared.
	Labels map[string]string `json:"labels,omitempty"`
	Taints []Taint           `json:"taints,omitempty"`
	// ReservedMilliCPU and ReservedMiB are kept for the system's daemons.
	ReservedMilliCPU int   `json:"reservedMilliCPU"`
	ReservedMiB      int64 `json:"reservedMiB"`
	// Switches above the host, from the top of the fabric to its leaf. Empty
	// without a topology.
	Switches []string `json:"switches,omitempty"`
}

// KubernetesTeam is a tenant with its people.
type KubernetesTeam struct {
	// Team as the environment has it.
	Team
	// People are the users of the team, those of its groups included, in the
	// order of Identity.Users.
	People []User `json:"people,omitempty"`
}

// KubernetesCluster is the Kubernetes side of an environment. The environment
// has a kubernetes section and is valid.
func (e *Environment) KubernetesCluster() KubernetesCluster {
	k := e.Kubernetes
	host, port := splitHostPort(k.Endpoint)
	cluster := KubernetesCluster{
		Name:             e.Name,
		Version:          kubernetesPatches[k.Version],
		Endpoint:         net.JoinHostPort(host, strconv.Itoa(cmp.Or(port, apiPort))),
		PodCIDR:          k.PodCIDR,
		ServiceCIDR:      k.ServiceCIDR,
		EvictionDeadline: k.EvictionDeadline,
		UpgradeAtOnce:    k.UpgradeAtOnce,
		Lab:              e.Lab != nil,
		CheckImage:       checkImage,
		GPUs:             map[string]int{},
		Queueing:         k.Queueing,
		Preemption:       k.Preemption,
		PriorityClasses:  k.PriorityClasses,
	}
	if e.Artifacts != nil {
		cluster.Artifacts = *e.Artifacts
	}
	if cluster.Lab {
		cluster.CheckImage = artifacts.GPUCheckImage
	}
	hosts := e.AllHosts()
	above, gpus := e.switchesAbove(), e.gpuCluster()
	if k.InstallsGPUOperator() {
		cluster.GPUTimeout = k.GPUOperator.Timeout
	}
	for plane := range withRole(hosts, RoleControlPlane) {
		cluster.ControlPlanes = append(cluster.ControlPlanes, e.kubernetesNode(plane))
	}
	for worker := range withRole(hosts, RoleWorker) {
		node := e.kubernetesNode(worker)
		node.Switches = above[worker.Name]
		for _, gpu := range worker.Profile.GPUs {
			node.GPUType, node.GPUs = gpu.Type, gpu.Count
			node.Devices = gpus.Devices(e.gpuWorker(worker))
			cluster.GPUs[gpu.Type] += node.Devices
		}
		for key, value := range e.gpuWorker(worker).Labels() {
			if node.Labels == nil {
				node.Labels = map[string]string{}
			}
			node.Labels[key] = value
		}
		cluster.Workers = append(cluster.Workers, node)
	}
	for _, team := range k.Teams {
		cluster.Teams = append(cluster.Teams, KubernetesTeam{Team: team, People: e.people(team)})
	}
	return cluster
}

func (e *Environment) kubernetesNode(host *Host) KubernetesNode {
	group, kept := e.Hosts[host.Group], e.Kubernetes.SystemReserved[host.ProfileName]
	address := host.Address
	if _, err := netip.ParseAddr(address); err != nil {
		address = ""
	}
	return KubernetesNode{
		Name: host.Name, Address: address, Profile: host.ProfileName,
		Labels: maps.Clone(group.Labels), Taints: group.Taints,
		ReservedMilliCPU: int(valueOr(kept.CPU, 0)*1000 + 0.5), ReservedMiB: kept.Memory.MiB(),
	}
}

// people are the users of a team, and of its groups.
func (e *Environment) people(team Team) []User {
	if e.Identity == nil {
		return nil
	}
	var out []User
	for _, user := range e.Identity.Users {
		if team.has(user) {
			out = append(out, user)
		}
	}
	return out
}

// switchesAbove lists the switches above each host, from the top down. A host
// under several leaves counts as under the first.
func (e *Environment) switchesAbove() map[string][]string {
	above := map[string][]string{}
	parent := map[string]string{}
	switches := e.switches()
	for _, s := range switches {
		for _, below := range s.Switches {
			parent[below] = s.Name
		}
	}
	for _, s := range switches {
		var path []string
		for name := s.Name; name != "" && len(path) <= topology.MaxDepth; name = parent[name] {
			path = append([]string{name}, path...)
		}
		for _, host := range s.Nodes {
			if above[host] == nil {
				above[host] = path
			}
		}
	}
	return above
}
