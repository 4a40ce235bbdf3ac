package kubeconf

// Overrides adapt a cluster to hosts that are not real servers. The zero value is
// for real ones: cgroup v2, managed by systemd, and a resolver that knows the world.
type Overrides struct {
	// CgroupV1 lets kubelet and kubeadm accept cgroup v1.
	CgroupV1 bool
	// Cgroupfs makes the runtime and kubelet manage groups themselves, without
	// systemd.
	Cgroupfs bool
	// KeepOOMScores leaves the scores of containers that would have to go below
	// that of the runtime, where the capability for it is missing.
	KeepOOMScores bool
	// KeepConntrack leaves the kernel's table of connections as it is.
	KeepConntrack bool
	// NoUpstreamDNS makes the cluster's DNS answer for the cluster alone.
	NoUpstreamDNS bool
	// SharedDisk bears a disk that others fill: pods are evicted only when next
	// to nothing is left, and images are never collected.
	SharedDisk bool
	// SyncFrequency is how often kubelet looks at secrets and config maps of a
	// pod, such as "5s". Empty: kubelet's default, a minute.
	SyncFrequency string
}

// LabOverrides are for containers that play servers on one machine with cgroup v1.
func LabOverrides() Overrides {
	return Overrides{CgroupV1: true, Cgroupfs: true, KeepOOMScores: true, KeepConntrack: true, NoUpstreamDNS: true,
		SharedDisk: true, SyncFrequency: "5s"}
}

// IgnoredPreflight are the checks of kubeadm that hosts of this kind fail for a
// reason that is known.
func (o Overrides) IgnoredPreflight() []string {
	if o.CgroupV1 {
		return []string{"SystemVerification"}
	}
	return nil
}
