package kubeconf

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/problem"
)

var (
	labelPattern   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	domainPattern  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	versionPattern = regexp.MustCompile(`^v1\.([0-9]{1,3})\.[0-9]{1,3}$`)
	wordPattern    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	imagePattern   = regexp.MustCompile(`^[a-z0-9.:-]+(/[a-z0-9._-]+)+:[A-Za-z0-9._-]+$`)
	effects        = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
)

// oldestMinor is the oldest release whose files we write: kube-proxy with
// nftables, and kubelet's own word on cgroup v1.
const oldestMinor = 34

// Check reports everything that is wrong with a cluster.
func Check(c Cluster) problem.List {
	c = c.withDefaults()
	r := &problem.Report{}
	if !labelPattern.MatchString(c.Name) {
		r.Add("name", "", "%q is not a DNS label", c.Name)
	}
	if m := versionPattern.FindStringSubmatch(c.Version); m == nil {
		r.Add("version", `write it as "v1.36.3"`, "%q is not a version of Kubernetes", c.Version)
	} else if minor, _ := strconv.Atoi(m[1]); minor < oldestMinor {
		r.Add("version", fmt.Sprintf("v1.%d is the oldest", oldestMinor), "%s is too old", c.Version)
	}
	checkEndpoint(r, c)
	checkRanges(r, c)
	checkRegistry(r, c.Registry)
	if tag := c.Images.EtcdTag; tag != "" && !wordPattern.MatchString(tag) {
		r.Add("images.etcdTag", "", "%q is not a tag", tag)
	}
	for path, image := range map[string]string{"images.pause": c.Images.Pause, "images.flannel": c.Images.Flannel, "images.simulatedGPUs": c.Images.SimulatedGPUs, "images.metricsServer": c.Images.MetricsServer} {
		if optional := path == "images.simulatedGPUs" || path == "images.metricsServer"; (image != "" || !optional) && !imagePattern.MatchString(image) {
			r.Add(path, "write registry/name:tag", "%q is not an image", image)
		}
	}
	if c.Overrides.SyncFrequency != "" && !regexp.MustCompile(`^[0-9]+(s|m)$`).MatchString(c.Overrides.SyncFrequency) {
		r.Add("overrides.syncFrequency", `write it as "5s"`, "%q is no time", c.Overrides.SyncFrequency)
	}
	checkNodes(r, c)
	slices.SortStableFunc(r.Problems, func(a, b problem.Problem) int { return strings.Compare(a.Path, b.Path) })
	return r.Problems
}

// endpoint splits the API's endpoint.
func (c Cluster) endpoint() (host string, port int, ok bool) {
	host, text, found := strings.Cut(c.Endpoint, ":")
	port, err := strconv.Atoi(text)
	return host, port, found && err == nil && port > 0 && port < 65536 && domainPattern.MatchString(host)
}

// checkEndpoint also holds the port of a control plane that is its own endpoint
// against the one on which every control plane serves.
func checkEndpoint(r *problem.Report, c Cluster) {
	host, port, ok := c.endpoint()
	if !ok {
		r.Add("endpoint", "write a name or an IPv4 address and a port, such as ctl1:6443", "%q is not host:port", c.Endpoint)
		return
	}
	if a, err := netip.ParseAddr(host); err == nil && a.IsLoopback() && !c.Balanced() {
		r.Add("endpoint", "write "+LocalEndpoint, "every host has its balancer at %s, not at %s", LocalEndpoint, c.Endpoint)
	}
	for _, n := range c.ControlPlanes {
		if (host == n.Name || host == n.Address) && port != apiPort {
			r.Add("endpoint", fmt.Sprintf("write %s:%d", host, apiPort), "control planes serve on port %d, not on %d", apiPort, port)
		}
		if (host == n.Name || host == n.Address) && len(c.ControlPlanes) > 1 {
			r.Add("endpoint", "name what stands before all control planes", "%s is one of several control planes", host)
		}
	}
}

// checkRanges wants room for a /24 of pods for every node.
func checkRanges(r *problem.Report, c Cluster) {
	pods, podErr := netip.ParsePrefix(c.PodCIDR)
	services, serviceErr := netip.ParsePrefix(c.ServiceCIDR)
	for path, p := range map[string]struct {
		prefix netip.Prefix
		err    error
		text   string
	}{"podCIDR": {pods, podErr, c.PodCIDR}, "serviceCIDR": {services, serviceErr, c.ServiceCIDR}} {
		if p.err != nil || !p.prefix.Addr().Is4() || p.prefix.Masked() != p.prefix {
			r.Add(path, "write it as 10.244.0.0/16", "%q is not a range of IPv4 addresses", p.text)
		}
	}
	if podErr != nil || serviceErr != nil {
		return
	}
	if pods.Overlaps(services) {
		r.Add("podCIDR", "", "%s overlaps the services' %s", c.PodCIDR, c.ServiceCIDR)
	}
	nodes := len(c.ControlPlanes) + len(c.Workers)
	if pods.Bits() > 24 || nodes > 1<<(24-pods.Bits()) {
		r.Add("podCIDR", "each node has a /24", "%s has no room for %d nodes", c.PodCIDR, nodes)
	}
	if services.Bits() < 12 || services.Bits() > 24 {
		r.Add("serviceCIDR", "write a /12 to a /24", "%s is too large or too small", c.ServiceCIDR)
	}
	for i, n := range append(slices.Clone(c.ControlPlanes), c.Workers...) {
		if a, err := netip.ParseAddr(n.Address); err == nil && (pods.Contains(a) || services.Contains(a)) {
			r.Add(nodePath(c, i)+".address", "", "%s is in the range of pods or services", n.Address)
		}
	}
}

func checkRegistry(r *problem.Report, registry string) {
	if registry == "" {
		return
	}
	u, err := url.Parse(registry)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		strings.ContainsAny(registry, "\"'\\ \n") {
		r.Add("registry", "write it as http://host:port", "%q is not the address of a registry", registry)
	}
}

// nodePath is the path of the node with that place among all nodes.
func nodePath(c Cluster, i int) string {
	if i < len(c.ControlPlanes) {
		return fmt.Sprintf("controlPlanes[%d]", i)
	}
	return fmt.Sprintf("workers[%d]", i-len(c.ControlPlanes))
}

func checkNodes(r *problem.Report, c Cluster) {
	if len(c.ControlPlanes) == 0 {
		r.Add("controlPlanes", "name at least one host", "is empty")
	} else if len(c.ControlPlanes)%2 == 0 {
		r.Add("controlPlanes", "write 1, 3 or 5", "%d control planes bear no more losses than %d", len(c.ControlPlanes), len(c.ControlPlanes)-1)
	}
	names, addresses := map[string]string{}, map[string]string{}
	for i, n := range append(slices.Clone(c.ControlPlanes), c.Workers...) {
		path := nodePath(c, i)
		if !labelPattern.MatchString(n.Name) {
			r.Add(path+".name", "", "%q is not a DNS label", n.Name)
		} else if earlier, taken := names[n.Name]; taken {
			r.Add(path+".name", "", "%s is %s too", n.Name, earlier)
		}
		names[n.Name] = path
		if n.Address != "" {
			if a, err := netip.ParseAddr(n.Address); err != nil || !a.Is4() {
				r.Add(path+".address", "", "%q is not an IPv4 address", n.Address)
			} else if earlier, taken := addresses[n.Address]; taken {
				r.Add(path+".address", "", "%s is that of %s too", n.Address, earlier)
			}
			addresses[n.Address] = path
		}
		for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
			checkLabel(r, path, key, n.Labels[key])
		}
		checkTaints(r, path, n.Taints)
		if n.Reserved.MilliCPU < 0 || n.Reserved.MemoryMiB < 0 || n.Reserved.StorageMiB < 0 {
			r.Add(path+".reserved", "", "has a negative number")
		}
	}
}

// qualified reports whether a key is a name, perhaps with a domain before it.
func qualified(key string) bool {
	domain, name, found := strings.Cut(key, "/")
	if !found {
		domain, name = "", key
	}
	return wordPattern.MatchString(name) && (!found || domainPattern.MatchString(domain))
}

func checkLabel(r *problem.Report, path, key, value string) {
	at := fmt.Sprintf("%s.labels[%q]", path, key)
	domain, _, found := strings.Cut(key, "/")
	inside := func(of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }
	switch {
	case !qualified(key):
		r.Add(at, "", "is not the name of a label")
	case value != "" && !wordPattern.MatchString(value):
		r.Add(at, "", "%q is not the value of a label", value)
	case found && (inside("kubernetes.io") || inside("k8s.io")) && !inside("node.kubernetes.io") && !inside("kubelet.kubernetes.io"):
		r.Add(at, "use a domain of your own", "kubelet may not give itself labels of %s", domain)
	}
}

func checkTaints(r *problem.Report, path string, taints []Taint) {
	seen := map[string]bool{ValidatingTaint.Key + ValidatingTaint.Effect: true}
	for i, t := range taints {
		at := fmt.Sprintf("%s.taints[%d]", path, i)
		if !qualified(t.Key) {
			r.Add(at, "", "%q is not the key of a taint", t.Key)
		}
		if t.Value != "" && !wordPattern.MatchString(t.Value) {
			r.Add(at, "", "%q is not the value of a taint", t.Value)
		}
		if !slices.Contains(effects, t.Effect) {
			r.Add(at, "write "+strings.Join(effects, ", "), "%q is not an effect", t.Effect)
		}
		if seen[t.Key+t.Effect] {
			r.Add(at, "", "%s:%s is there already", t.Key, t.Effect)
		}
		seen[t.Key+t.Effect] = true
	}
}
