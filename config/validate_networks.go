package config

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// How large the networks of a cluster can be, in bits of the prefix. A host gets
// hostBits of the pods' network, and the controller manager hands out at most
// 65,536 such parts. The API server takes services of at most 20 bits.
const (
	hostBits       = 24
	widestPods     = 8
	widestServices = 12
	leastServices  = 24
)

// labPools are where the network of a lab is taken from that gives none.
var labPools = []netip.Prefix{netip.MustParsePrefix("10.213.0.0/16"), netip.MustParsePrefix("198.18.0.0/16")}

// networks checks that pods, services and hosts have addresses of their own.
func (v *validator) networks(k *Kubernetes) {
	pods, podsKnown := v.network("kubernetes.podCIDR", k.PodCIDR, widestPods, hostBits)
	services, servicesKnown := v.network("kubernetes.serviceCIDR", k.ServiceCIDR, widestServices, leastServices)
	if podsKnown {
		v.roomForHosts(pods)
		v.apart("kubernetes.podCIDR", pods)
	}
	if servicesKnown {
		v.apart("kubernetes.serviceCIDR", services)
	}
	if podsKnown && servicesKnown && pods.Overlaps(services) {
		v.addf(KindConflict, "kubernetes.serviceCIDR", "take networks that share no address", "%s overlaps the network of pods, %s", services, pods)
	}
}

// network reads a network whose prefix has a number of bits within bounds.
func (v *validator) network(path, text string, widest, narrowest int) (netip.Prefix, bool) {
	if text == "" || v.isBroken(path) {
		return netip.Prefix{}, false
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil || !prefix.Addr().Is4():
		v.addf(KindInvalid, path, "write it as 10.244.0.0/16", "%q is not an IPv4 network", text)
	case prefix.Masked() != prefix:
		v.addf(KindInvalid, path, fmt.Sprintf("write %s", prefix.Masked()), "%s has host bits set", text)
	case prefix.Addr().IsLoopback() || prefix.Addr().IsLinkLocalUnicast() || prefix.Addr().IsMulticast() || prefix.Addr().IsUnspecified():
		v.addf(KindInvalid, path, "take one within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16", "%s has a meaning of its own", text)
	case prefix.Bits() < widest || prefix.Bits() > narrowest:
		v.addf(KindInvalid, path, fmt.Sprintf("take a /%d to a /%d", widest, narrowest), "a /%d is too %s", prefix.Bits(),
			map[bool]string{true: "large", false: "small"}[prefix.Bits() < widest])
	default:
		return prefix, true
	}
	return netip.Prefix{}, false
}

// roomForHosts checks that each host gets its part of the pods' network.
func (v *validator) roomForHosts(pods netip.Prefix) {
	room, hosts := 1<<(hostBits-pods.Bits()), v.byRole[RoleControlPlane]+v.byRole[RoleWorker]
	if hosts > room {
		v.addf(KindInvalid, "kubernetes.podCIDR", fmt.Sprintf("take a larger network: each host gets a /%d of it", hostBits),
			"%s has room for %s, the environment has %d", pods, count(room, "host"), hosts)
	}
}

// apart checks that a network has no address of a host, of the API, or of those
// that a lab hands out.
func (v *validator) apart(path string, network netip.Prefix) {
	var inside []string
	for i := range v.all {
		if address, err := netip.ParseAddr(v.all[i].Address); err == nil && network.Contains(address) {
			inside = append(inside, v.all[i].Name)
		}
	}
	if len(inside) > 0 {
		v.addf(KindConflict, path, "take a network that no host is in", "%s has the addresses of %s", network, hostlist.Compress(inside))
	}
	endpoint, _ := splitHostPort(v.env.Kubernetes.Endpoint)
	if address, err := netip.ParseAddr(endpoint); err == nil && network.Contains(address) {
		v.addf(KindConflict, path, "take a network that no host is in", "%s has the address of kubernetes.endpoint", network)
	}
	if v.env.Lab == nil || v.isBroken("lab") {
		return
	}
	if given := v.env.Lab.Subnet; given != "" {
		if subnet, err := netip.ParsePrefix(given); err == nil && network.Overlaps(subnet) {
			v.addf(KindConflict, path, "take networks that share no address", "%s overlaps lab.subnet, %s", network, given)
		}
		return
	}
	var shared []string
	for _, pool := range labPools {
		if network.Overlaps(pool) {
			shared = append(shared, pool.String())
		}
	}
	if len(shared) > 0 {
		v.addf(KindConflict, path, "take another network, or fix lab.subnet outside of it",
			"%s overlaps %s, of which a lab's hosts get addresses", network, strings.Join(shared, " and "))
	}
}
