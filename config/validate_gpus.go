package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

var (
	driverVersion = regexp.MustCompile(`^[0-9]+(\.[0-9]+){1,3}$`)
	ofedVersion   = regexp.MustCompile(`^doca[0-9][A-Za-z0-9._-]*$`)
	sliceSize     = regexp.MustCompile(`^[1-7]g\.[0-9]+gb$`)
	interfaceName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,15}$`)
)

// gpuOperator checks who looks after what GPUs need: one for each part.
func (v *validator) gpuOperator(k *Kubernetes) {
	o := k.GPUOperator
	const path = "kubernetes.gpuOperator"
	switch {
	case o == nil:
		return
	case v.env.Lab != nil:
		v.add(KindConflict, path, "remove it", "a lab's GPUs are simulated, and its own device plugin gives them to pods")
		return
	case !valueOr(o.Enabled, true):
		v.switchedOff(o)
		return
	}
	if !v.env.workersHaveGPUs() && !v.isBroken("hosts") && !v.isBroken("profiles") {
		v.add(KindConflict, path, "remove it", "no worker has GPUs")
		return
	}
	if wait, err := time.ParseDuration(o.Timeout); o.Timeout != "" && (err != nil || wait <= 0) {
		v.addf(KindInvalid, path+".timeout", "write it as 30m or 2h", "%q is not a duration", o.Timeout)
	}
	v.gpuDriver(path+".driver", o)
	if o.NodeFeatures == NodeFeaturesNetworkOperator && k.RDMA == nil {
		v.add(KindConflict, path+".nodeFeatures", "write gpu-operator, or add kubernetes.rdma", "without rdma there is no Network Operator")
	}
	v.claims(path, k)
	v.mig(path+".mig", k)
	v.timeSlicing(path+".timeSlicing", o)
}

// switchedOff checks that nothing is asked of an operator that is not there.
func (v *validator) switchedOff(o *GPUOperator) {
	const path = "kubernetes.gpuOperator"
	if o.MIG != nil {
		v.add(KindConflict, path+".mig", "remove it, or write enabled: true", "nothing cuts GPUs without the operator")
	}
	if len(o.TimeSlicing) > 0 {
		v.add(KindConflict, path+".timeSlicing", "remove it, or write enabled: true", "nothing shares GPUs without the operator")
	}
	if o.Driver.Owner == OwnerOperator {
		v.add(KindConflict, path+".driver.owner", "write host, or enabled: true", "nothing installs drivers without the operator")
	}
}

func (v *validator) gpuDriver(path string, o *GPUOperator) {
	d := o.Driver
	if d.Owner == OwnerHost {
		const hint = "remove it, or write owner: operator"
		if d.Version != "" {
			v.add(KindConflict, path+".version", hint, "the hosts have a driver of their own, which nothing of ours changes")
		}
		if d.KernelModule != "" {
			v.add(KindConflict, path+".kernelModule", hint, "the hosts have a driver of their own, which nothing of ours changes")
		}
		return
	}
	if d.Version != "" && !driverVersion.MatchString(d.Version) {
		v.addf(KindInvalid, path+".version", "write it as "+gpuoperator.DriverVersion, "%q is not the version of a driver", d.Version)
	}
	if o.Toolkit == OwnerHost {
		v.add(KindConflict, "kubernetes.gpuOperator.toolkit", "write operator, or driver.owner: host",
			"a toolkit of the hosts' looks for their own driver, and the operator's lies in a folder of its own")
	}
}

// claims checks that nothing needs what the device plugin alone offers.
func (v *validator) claims(path string, k *Kubernetes) {
	o := k.GPUOperator
	if o.Allocation != AllocationDRA {
		return
	}
	if k.Queueing != QueueingNone {
		v.addf(KindConflict, path+".allocation", "write device-plugin, or queueing: none",
			"the quotas of %s count nvidia.com/gpu, and claims ask for GPUs in another way", k.Queueing)
	}
	if o.MIG != nil {
		v.add(KindConflict, path+".mig", "remove it, or write allocation: device-plugin", "slices are the device plugin's")
	}
	if len(o.TimeSlicing) > 0 {
		v.add(KindConflict, path+".timeSlicing", "remove it, or write allocation: device-plugin", "shares are the device plugin's")
	}
	if !valueOr(o.CDI, true) {
		v.add(KindConflict, path+".cdi", "write true, or allocation: device-plugin", "claims hand devices over by CDI")
	}
}

// gpuProfile checks a key that names the profile of hosts with GPUs, and returns
// the type of these.
func (v *validator) gpuProfile(path, name string) (gpuType string, ok bool) {
	known := map[string]bool{}
	for profile := range v.env.Profiles {
		known[profile] = true
	}
	from := len(v.problems)
	v.reference(path, name, "profile", known)
	if known[name] && len(v.env.Profiles[name].GPUs) == 0 && !v.isBroken(strictyaml.Child("profiles", name)) {
		v.addf(KindHardware, path, "", "profile %s has no GPUs", name)
	}
	v.atKey(from)
	gpus := v.env.Profiles[name].GPUs
	if len(gpus) != 1 {
		return "", false
	}
	return gpus[0].Type, !v.isBroken(path)
}

func (v *validator) mig(path string, k *Kubernetes) {
	m := k.GPUOperator.MIG
	if m == nil {
		return
	}
	mixed := m.Strategy == MIGMixed
	if mixed && k.Queueing != QueueingNone {
		v.addf(KindConflict, path+".strategy", "write single, or queueing: none",
			"the quotas of %s count nvidia.com/gpu, and mixed slices are called by their size", k.Queueing)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Slices)) {
		at, size := strictyaml.Child(path+".slices", name), m.Slices[name]
		gpuType, ok := v.gpuProfile(at, name)
		if !ok {
			continue
		}
		if !sliceSize.MatchString(size) {
			v.addf(KindInvalid, at, "write it as 1g.10gb", "%q is not the size of a slice", size)
			continue
		}
		if _, both := k.GPUOperator.TimeSlicing[name]; both {
			v.addf(KindConflict, at, "choose one of them", "the GPUs of %s are shared in turn too", name)
		}
		for _, p := range gpuoperator.Check(gpuoperator.Cluster{MixedMIG: mixed, Workers: []gpuoperator.Worker{{GPUType: gpuType, Slice: size}}}) {
			v.add(KindHardware, at, p.Hint, p.What)
		}
	}
}

func (v *validator) timeSlicing(path string, o *GPUOperator) {
	for _, name := range slices.Sorted(maps.Keys(o.TimeSlicing)) {
		v.gpuProfile(strictyaml.Child(path, name), name)
	}
}

// rdma checks that adapters have one driver, and an operator that offers them.
func (v *validator) rdma(k *Kubernetes) {
	const path = "kubernetes.rdma"
	switch r := k.RDMA; {
	case r == nil:
	case v.env.Lab != nil:
		v.add(KindConflict, path, "remove it", "a lab's hosts have no such adapters")
	case !k.InstallsGPUOperator() && !v.isBroken("kubernetes.gpuOperator"):
		v.add(KindConflict, path, "write gpuOperator.enabled: true for workers with GPUs", "adapters are offered to pods beside GPUs, by operators that are not installed")
	case r.Driver == OwnerHost && r.DriverVersion != "":
		v.add(KindConflict, path+".driverVersion", "remove it, or write driver: operator", "the hosts have a driver of their own, which nothing of ours changes")
	case v.isBroken(path + ".driverVersion"):
	case r.Driver == OwnerOperator && r.DriverVersion == "":
		v.add(KindMissing, path+".driverVersion", "write the DOCA-OFED that fits the adapters' firmware, as doca3.4.0-26.04-0.8.6.0-1", "is missing")
	case r.Driver == OwnerOperator && !ofedVersion.MatchString(r.DriverVersion):
		v.addf(KindInvalid, path+".driverVersion", "write it as doca3.4.0-26.04-0.8.6.0-1", "%q is not the version of DOCA-OFED", r.DriverVersion)
	}
	if k.RDMA == nil {
		return
	}
	for i, name := range k.RDMA.Interfaces {
		if !interfaceName.MatchString(name) {
			v.addf(KindInvalid, strictyaml.Item(path+".interfaces", i), "write it as ib0", "%q cannot name an interface", name)
		}
	}
}

// monitoring checks that labels have something to be on.
func (v *validator) monitoring(k *Kubernetes) {
	m := k.Monitoring
	if m == nil {
		return
	}
	if !m.ServiceMonitors && len(m.Labels) > 0 {
		v.add(KindConflict, "kubernetes.monitoring.labels", "write serviceMonitors: true, or remove them", "there are no ServiceMonitors to label")
	}
	for _, key := range slices.Sorted(maps.Keys(m.Labels)) {
		if value := m.Labels[key]; !labelName.MatchString(value) || strings.ContainsAny(key, " \t") {
			v.addf(KindInvalid, strictyaml.Child("kubernetes.monitoring.labels", key), labelHint, "%q cannot be the value of a label", value)
		}
	}
}
