package playbook

// The playbooks. Each works on every host of the request's groups, unless it
// names groups of its own.
const (
	// Baseline checks hosts against their declaration and prepares them.
	Baseline Playbook = "baseline"
	// SharedHome serves one tree of home folders from the group storage, has
	// it on the group clients, and makes home folders on the group homes, of
	// which one host is enough.
	SharedHome Playbook = "shared_home"
	// Database runs MariaDB and slurmdbd.
	Database Playbook = "database"
	// Controller prepares what slurmctld needs but its configuration, and
	// does not start it.
	Controller Playbook = "controller"
	// Login gives login hosts the cluster's commands and people's keys.
	Login Playbook = "login"
	// Compute brings hosts into the cluster.
	Compute Playbook = "compute"
	// KubernetesNode has runtime and kubelet on hosts, and joins nothing.
	KubernetesNode Playbook = "kubernetes_node"
	// KubernetesControlPlane begins a cluster, or has a prepared host join its
	// control planes: one host at a time.
	KubernetesControlPlane Playbook = "kubernetes_control_plane"
	// KubernetesWorker has prepared hosts join a cluster, closed.
	KubernetesWorker Playbook = "kubernetes_worker"

	// BaselineRemove takes the block of names from /etc/hosts. Accounts and
	// packages stay.
	BaselineRemove Playbook = "baseline_remove"
	// SharedHomeRemove takes the tree from the groups clients and storage.
	SharedHomeRemove Playbook = "shared_home_remove"
	// DatabaseRemove stops slurmdbd. The data stays.
	DatabaseRemove Playbook = "database_remove"
	// ControllerRemove stops slurmctld. Its state stays.
	ControllerRemove Playbook = "controller_remove"
	// LoginRemove takes login hosts out of the cluster.
	LoginRemove Playbook = "login_remove"
	// ComputeRemove stops and masks slurmd and forgets the cluster's key.
	ComputeRemove Playbook = "compute_remove"
	// KubernetesRemove takes hosts out of their cluster, with all that they have
	// of it; the node object and the member of etcd are not theirs to remove.
	// Packages stay.
	KubernetesRemove Playbook = "kubernetes_remove"
)
