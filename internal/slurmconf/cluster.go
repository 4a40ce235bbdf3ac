package slurmconf

import "github.com/gpucluster/pulumi-gpucluster/internal/topology"

// Cluster is everything the file set says. The zero value of a field means
// what its comment says; nothing is read from elsewhere.
type Cluster struct {
	// Name is the ClusterName: lower case, at most 40 bytes. It cannot change
	// while the cluster exists.
	Name string
	// Version is the release line of every daemon and client.
	Version Version
	// OldestReader is the release line of the oldest slurmd or client while an
	// upgrade is under way. Zero: all run Version.
	OldestReader Version
	// Controllers run slurmctld; the first is the primary.
	Controllers []Controller
	// Accounting says where job records go. Nil: nowhere, and no limits.
	Accounting *Accounting
	// Nodes are the compute hosts.
	Nodes []Node
	// NodeSets name sets of nodes for partitions to refer to.
	NodeSets []NodeSet
	// Partitions are the queues.
	Partitions []Partition
	// Topology is the tree of switches. Empty: all nodes are equally far.
	Topology []topology.Switch
	// Priority orders jobs.
	Priority Priority
	// Preemption lets jobs displace others. Nil: it does not happen.
	Preemption *Preemption
	// PrivateTmp gives every job directories of its own. Nil: jobs share /tmp.
	PrivateTmp *PrivateTmp
	// HealthCheck runs a program on every host. Nil: none.
	HealthCheck *HealthCheck
	// Plugins are SPANK plugins, in the order they are loaded.
	Plugins []Plugin
	// GPUAutoDetect lets slurmd find GPUs by a library ("nvml", "nvidia",
	// "rsmi", …) instead of the device files that nodes declare. Default: the
	// files. It never adds a GPU that a node does not declare.
	GPUAutoDetect string
	// MPIDefault is the plugin for programs that name none. Default: what
	// Debian's build of the release has ([Version.DefaultMPI]).
	MPIDefault string
	// Paths on the hosts.
	Paths Paths
	// Overrides adapt the cluster to hosts that are not real servers.
	Overrides Overrides
	// Extra adds keys, file name to key to value. Keys that a field above
	// renders are refused; others are checked against the release.
	Extra map[string]map[string]string
}

// Controller is a host that runs slurmctld.
type Controller struct {
	// Name is the short host name.
	Name string
	// Addr is its address, or empty where the name resolves.
	Addr string
}

// Accounting says where job records go and what is enforced from them.
type Accounting struct {
	// Host is the short name of the host that runs slurmdbd. Port 0: 6819.
	Host string
	Port int
	// External means that the site runs this slurmdbd already: no
	// slurmdbd.conf is written.
	External bool
	// Storage is the database behind slurmdbd; not with External.
	Storage Storage
	// Enforce is AccountingStorageEnforce. Default: associations, limits,
	// qos, safe. An explicit empty, non-nil slice enforces nothing.
	Enforce []string
	// TRES are further resources to account for; GPUs and their types are
	// accounted for always.
	TRES []string
}

// Storage is a MariaDB server.
type Storage struct {
	// Host of the server. Default "localhost".
	Host string
	// Port of the server. Default 3306.
	Port int
	// Database to use. Default "slurm_acct_db".
	Database string
	// User to log in as. Default "slurm".
	User string
}

// Paths on the hosts. Empty fields take the default that the comment names.
type Paths struct {
	// SlurmUser runs slurmctld and slurmdbd: "slurm".
	SlurmUser string
	// ConfigDir holds the file set: "/etc/slurm".
	ConfigDir string
	// StateSaveLocation is slurmctld's state: "/var/spool/slurmctld". With
	// several controllers they must share it.
	StateSaveLocation string
	// SlurmdSpoolDir is slurmd's state: "/var/spool/slurmd". "/%n" is appended
	// where several nodes live on one host.
	SlurmdSpoolDir string
}

// PrivateTmp gives every job its own /tmp and /dev/shm.
type PrivateTmp struct {
	// BasePath is the directory on each host that holds the jobs' directories:
	// "/var/spool/slurm-tmp". Not /tmp nor /dev/shm.
	BasePath string
	// Dirs are what a job has for itself; from 23.02 on, before that it is
	// /tmp and /dev/shm. Default: /tmp and /dev/shm.
	Dirs []string
}

// HealthCheck is a program that slurmd runs regularly.
type HealthCheck struct {
	// Program is its absolute path on every host.
	Program string
	// Seconds between two runs. Default 300.
	Seconds int
	// NodeState selects the hosts: "ANY" (default), "IDLE", "ALLOC", "MIXED",
	// "CYCLE" or a list of them.
	NodeState string
}

// Plugin is a SPANK plugin.
type Plugin struct {
	// Path of the shared object, or its name in Slurm's plugin directory.
	Path string
	// Optional lets jobs start without it where it is missing.
	Optional bool
	// Args follow the path.
	Args []string
}
