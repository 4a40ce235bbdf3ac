package kubeconf

import (
	"cmp"
	"slices"
	"strings"
)

// Binaries are the programs that hosts run without a container.
var Binaries = []string{"kubeadm", "kubectl", "kubelet"}

// Packages are Debian's, which every host gets.
var Packages = []string{
	"conntrack", "containerd", "containernetworking-plugins", "curl", "ethtool", "iptables", "kmod", "nftables", "runc", "socat",
}

// balancerPackage is Debian's too, for hosts with a balancer of their own.
const balancerPackage = "haproxy"

// PackageNames lists the packages of Debian that the hosts of the cluster get.
func (c Cluster) PackageNames() []string {
	names := slices.Clone(Packages)
	if c.Balanced() {
		names = append(names, balancerPackage)
	}
	return names
}

// chosen are the tags of images that kubeadm chooses, by minor release. They are
// constants in its source: cmd/kubeadm/app/constants.
var chosen = map[string]struct{ etcd, coreDNS string }{
	"v1.36": {etcd: "3.6.8-0", coreDNS: "v1.14.2"},
	"v1.37": {etcd: "3.7.0-0", coreDNS: "v1.14.6"},
}

// ImageNames lists every image of the cluster's own parts, by full name. A
// release whose choices are not known lists those images without a tag.
func (c Cluster) ImageNames() []string {
	c = c.withDefaults()
	last := strings.LastIndexByte(c.Version, '.')
	tags := chosen[c.Version[:max(last, 0)]]
	names := []string{
		"registry.k8s.io/kube-apiserver:" + c.Version, "registry.k8s.io/kube-controller-manager:" + c.Version,
		"registry.k8s.io/kube-proxy:" + c.Version, "registry.k8s.io/kube-scheduler:" + c.Version,
		strings.TrimSuffix("registry.k8s.io/coredns/coredns:"+tags.coreDNS, ":"),
		strings.TrimSuffix("registry.k8s.io/etcd:"+cmp.Or(c.Images.EtcdTag, tags.etcd), ":"),
		c.Images.Pause, c.Images.Flannel,
	}
	if c.Images.SimulatedGPUs != "" {
		names = append(names, c.Images.SimulatedGPUs)
	}
	if c.Images.MetricsServer != "" {
		names = append(names, c.Images.MetricsServer)
	}
	slices.Sort(names)
	return names
}
