package config

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

func (v *validator) kubernetes() {
	k := v.env.Kubernetes
	if k == nil || v.env.Scheduler == SchedulerSlurm {
		return
	}
	v.endpoint(k)
	v.networks(k)
	if deadline, err := time.ParseDuration(k.EvictionDeadline); k.EvictionDeadline != "" && (err != nil || deadline < 0) {
		v.addf(KindInvalid, "kubernetes.evictionDeadline", "write it as 30m or 2h", "%q is not a duration", k.EvictionDeadline)
	}
	v.reserved(k)
	v.gpuTypesApart(k)
	v.fabric(k)
	v.gpuOperator(k)
	v.rdma(k)
	v.monitoring(k)
	v.queueing(k)
	v.teams(k)
}

// endpoint checks where the API is reached. With more than one control plane it
// must not be the address of one.
func (v *validator) endpoint(k *Kubernetes) {
	path := "kubernetes.endpoint"
	if v.isBroken(path) {
		return
	}
	planes := v.env.HostsWithRole(RoleControlPlane)
	host, port := splitHostPort(k.Endpoint)
	switch {
	case k.Endpoint == "" || k.Endpoint == kubeconf.LocalEndpoint || len(planes) == 1 && host == planes[0].Name && port == apiPort:
	case !hostPort.MatchString(k.Endpoint) || !dnsSubdomain.MatchString(host) || strings.Contains(k.Endpoint, ":") && (port < 1 || port > 65535) || wrongAddress(host):
		v.addf(KindInvalid, path, "write it as host or host:port, in lower case", "%q is not an address", k.Endpoint)
	case host == "localhost" || loopback(host):
		v.addf(KindInvalid, path, "write "+kubeconf.LocalEndpoint+", where every host then has a balancer, or leave it out", "%s is another place on every host", k.Endpoint)
	case !slices.ContainsFunc(planes, func(h Host) bool { return host == h.Name || host == h.Address }):
	case len(planes) > 1:
		v.addf(KindConflict, path, "leave it out, so that every host gets a balancer, or name a balancer of the site",
			"%s is one of %d control planes: without it the API would be lost", host, len(planes))
	case port != 0 && port != apiPort:
		v.addf(KindConflict, path, fmt.Sprintf("write %s:%d", host, apiPort), "a control plane serves on port %d, not on %d", apiPort, port)
	}
}

func loopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// wrongAddress tells whether a host looks like an IPv4 address, and is none.
func wrongAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return looksNumeric(host) && err != nil
}

// reserved checks that hosts keep less than they have.
func (v *validator) reserved(k *Kubernetes) {
	known := map[string]bool{}
	for name := range v.env.Profiles {
		known[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(k.SystemReserved)) {
		path := strictyaml.Child("kubernetes.systemReserved", name)
		from := len(v.problems)
		v.reference(path, name, "profile", known)
		v.atKey(from)
		profile, kept := v.env.Profiles[name], k.SystemReserved[name]
		if !known[name] || v.isBroken(strictyaml.Child("profiles", name)) {
			continue
		}
		if threads := profile.threads(); valueOr(kept.CPU, 0) >= float64(threads) {
			v.addf(KindHardware, path+".cpu", "", "%s of %s are kept: none is left for pods",
				strconv.FormatFloat(*kept.CPU, 'f', -1, 64), count(threads, "CPU"))
		}
		if kept.Memory >= profile.Memory {
			v.addf(KindHardware, path+".memory", "", "%s of %s are kept: nothing is left for pods", kept.Memory, profile.Memory)
		}
	}
}

// gpuTypesApart checks that the GPUs of a worker can be told apart: a pod asks for
// nvidia.com/gpu, and the host it runs on says of which type that is.
func (v *validator) gpuTypesApart(k *Kubernetes) {
	seen := map[string]bool{}
	for i := range v.all {
		host := &v.all[i]
		if !host.Has(RoleWorker) || seen[host.ProfileName] || v.isBroken("profiles") {
			continue
		}
		seen[host.ProfileName] = true
		path := strictyaml.Child("profiles", host.ProfileName) + ".gpus"
		if len(host.Profile.GPUs) > 1 {
			v.addf(KindConflict, path, "give each type hosts of its own", "a pod cannot choose among %d types of GPU in one host",
				len(host.Profile.GPUs))
		}
		for n, gpu := range host.Profile.GPUs {
			if k.Queueing == QueueingKueue && gpuType.MatchString(gpu.Type) && (!dnsLabel.MatchString(gpu.Type) || len(gpu.Type) > maxLabel || gpu.Type == "none") {
				v.addf(KindInvalid, strictyaml.Item(path, n)+".type", fmt.Sprintf("lower-case letters, digits and inner hyphens, at most %d, and not none", maxLabel),
					"%q cannot name a flavour of Kueue", gpu.Type)
			}
		}
	}
}

// maxLevels is how many levels of switches Kueue knows: of its 16 the last is the
// host.
const maxLevels = 15

// fabric checks that the switches can be told to Kubernetes, as labels of hosts.
func (v *validator) fabric(k *Kubernetes) {
	t := v.env.Topology
	if t == nil || v.isBroken("topology") {
		return
	}
	for i, s := range t.Switches {
		if !labelName.MatchString(s.Name) {
			v.addf(KindInvalid, strictyaml.Item("topology.switches", i)+".name", labelHint, "%q cannot be the value of a label", s.Name)
		}
	}
	deepest := 0
	for _, path := range v.env.switchesAbove() {
		deepest = max(deepest, len(path))
	}
	if deepest > maxLevels && k.Queueing == QueueingKueue {
		v.addf(KindInvalid, "topology.switches", "leave out levels by which no job is placed", "%d levels of switches, Kueue knows %d", deepest, maxLevels)
	}
}

// workerGPUs are the nvidia.com/gpu that workers offer, by type.
func (v *validator) workerGPUs() map[string]int {
	total, gpus := map[string]int{}, v.env.gpuCluster()
	for i := range v.all {
		if !v.all[i].Has(RoleWorker) {
			continue
		}
		for _, gpu := range v.all[i].Profile.GPUs {
			worker := v.env.gpuWorker(&v.all[i])
			worker.GPUType, worker.GPUs = gpu.Type, gpu.Count
			total[gpu.Type] += gpus.Devices(worker)
		}
	}
	return total
}

// queueing checks that what is said of queues can be done by what makes them.
func (v *validator) queueing(k *Kubernetes) {
	const hint = "write queueing: kueue"
	switch k.Queueing {
	case QueueingNone:
		if k.Preemption != nil {
			v.add(KindConflict, "kubernetes.preemption", hint, "without queueing no job displaces another")
		}
		if len(k.PriorityClasses) > 0 {
			v.add(KindConflict, "kubernetes.priorityClasses", hint, "without queueing jobs are not ordered")
		}
		for i, team := range k.Teams {
			path := strictyaml.Item("kubernetes.teams", i)
			for _, setting := range []struct {
				key   string
				given bool
			}{{".cohort", team.Cohort != ""}, {".weight", team.Weight != 0}, {".gpus", len(team.GPUs) > 0}} {
				if setting.given && !v.isBroken(path+setting.key) {
					v.add(KindConflict, path+setting.key, hint, "without queueing there are no quotas")
				}
			}
		}
	case QueueingVolcano:
		if p := k.Preemption; p != nil && p.WithinTeam == TeamPreemptLowerOrNewer {
			v.add(KindConflict, "kubernetes.preemption.withinTeam", "write lower, or queueing: kueue", "Volcano displaces by priority alone")
		}
		if p := k.Preemption; p != nil && p.Reclaim == ReclaimLower {
			v.add(KindConflict, "kubernetes.preemption.reclaim", "write any or never, or queueing: kueue", "Volcano reclaims whatever the priority")
		}
		if types := v.workerGPUs(); len(types) > 1 {
			v.addf(KindConflict, "kubernetes.queueing", hint, "Volcano counts GPUs of all types together, and the workers have %s",
				wordList(slices.Sorted(maps.Keys(types))))
		}
		v.volcano(k)
	}
	v.priorityClasses(k.PriorityClasses)
}

func (v *validator) priorityClasses(classes []PriorityClass) {
	seen := map[string]bool{}
	for i, class := range classes {
		path := strictyaml.Item("kubernetes.priorityClasses", i)
		v.dnsName(path+".name", "priority class", class.Name, seen)
		if strings.HasPrefix(class.Name, "system-") {
			v.addf(KindCollision, path+".name", "choose another name", "names that begin with system- are Kubernetes' own")
		}
	}
}

// dnsName checks the name of an object, and that it is there once.
func (v *validator) dnsName(path, what, name string, seen map[string]bool) {
	switch {
	case name == "" || v.isBroken(path):
		return
	case !dnsLabel.MatchString(name) || len(name) > maxLabel:
		v.addf(KindInvalid, path, fmt.Sprintf("lower-case letters, digits and inner hyphens, at most %d", maxLabel), "%q cannot name a %s", name, what)
	case seen[name]:
		v.addf(KindDuplicate, path, "", "%s %q is listed twice", what, name)
	}
	seen[name] = true
}
