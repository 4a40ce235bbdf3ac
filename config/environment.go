// Package config holds the typed environment: what one stack file says about
// hosts, hardware, people and schedulers.
//
// The usual path is [Load] on a stack file, which decodes strictly, fills
// defaults and validates, and reports every problem at once with file, line
// and column. A Go program that imports the components builds the same types
// by hand; the components call [Check] on them.
//
// Names are facts and stay plain values: host names, roles, counts and
// hardware decide which resources exist. Addresses and keys may be known
// later; they are not part of the environment when the lab makes the hosts.
package config

//go:generate go run ../internal/envdoc/generate

// Scheduler says which workload manager an environment gets.
type Scheduler string

// The schedulers that an environment can ask for.
const (
	SchedulerSlurm      Scheduler = "slurm"
	SchedulerKubernetes Scheduler = "kubernetes"
	SchedulerHybrid     Scheduler = "hybrid"
)

// Environment is everything that one stack file says.
type Environment struct {
	// Name names the environment in resource names, container names and, by
	// default, the Slurm cluster. A DNS label of at most 40 characters, the
	// same as in the name of the file, Pulumi.<name>.yaml. It cannot change
	// while the environment exists.
	Name string `yaml:"name" json:"name"`

	// Scheduler selects what is built on the hosts.
	Scheduler Scheduler `yaml:"scheduler" json:"scheduler" check:"enum=slurm|kubernetes|hybrid"`

	// Lab makes the hosts as containers on this machine. Exactly one of Lab
	// and Inventory is given.
	Lab *Lab `yaml:"lab,omitempty" json:"lab,omitempty"`

	// Inventory says how to reach hosts that exist already.
	Inventory *Inventory `yaml:"inventory,omitempty" json:"inventory,omitempty"`

	// Profiles describes hardware once; hosts refer to a profile by name.
	Profiles map[string]Profile `yaml:"profiles" json:"profiles"`

	// Hosts lists the hosts in groups of equal profile and roles.
	Hosts []HostGroup `yaml:"hosts" json:"hosts"`

	// Topology describes the fabric by hand. Optional: without it the
	// cluster is flat.
	Topology *Topology `yaml:"topology,omitempty" json:"topology,omitempty"`

	// Identity holds people and groups with fixed ids.
	Identity *Identity `yaml:"identity,omitempty" json:"identity,omitempty"`

	// Home is the home directory tree shared by all hosts. Without one, a
	// job's output lands on the disk of the host that ran it.
	Home *Home `yaml:"home,omitempty" json:"home,omitempty"`

	// Artifacts says where Kubernetes' images, binaries, charts and packages
	// come from. Default: their makers' own places, and in a lab the lab's own
	// server.
	Artifacts *Artifacts `yaml:"artifacts,omitempty" json:"artifacts,omitempty"`

	// Slurm configures the Slurm side; required for slurm and hybrid, and given
	// for no other scheduler.
	Slurm *Slurm `yaml:"slurm,omitempty" json:"slurm,omitempty"`

	// Kubernetes configures the Kubernetes side; required for kubernetes and
	// hybrid, and given for no other scheduler.
	Kubernetes *Kubernetes `yaml:"kubernetes,omitempty" json:"kubernetes,omitempty"`
}

// Role is a part that a host plays.
type Role string

// The roles of hosts. Each belongs to one scheduler, but for storage, which
// serves them all.
const (
	// RoleController runs slurmctld. The first host listed is the primary.
	RoleController Role = "controller"
	// RoleDatabase runs slurmdbd and, unless one is given, MariaDB.
	RoleDatabase Role = "database"
	// RoleLogin is where people submit jobs to Slurm.
	RoleLogin Role = "login"
	// RoleCompute runs Slurm's jobs.
	RoleCompute Role = "compute"
	// RoleControlPlane runs the API server of Kubernetes and etcd. An odd
	// number of hosts; no worker is one of them.
	RoleControlPlane Role = "control-plane"
	// RoleWorker runs the pods of Kubernetes.
	RoleWorker Role = "worker"
	// RoleStorage serves the shared home as a GlusterFS volume.
	RoleStorage Role = "storage"
)

// Roles are all roles, in the order in which hosts are made ready.
var Roles = []Role{
	RoleController, RoleControlPlane, RoleDatabase, RoleStorage, RoleLogin, RoleCompute, RoleWorker,
}

// HostGroup is a set of hosts with one profile and the same roles.
type HostGroup struct {
	// Names is a hostlist expression such as "gpu[001-064]".
	Names string `yaml:"names" json:"names"`

	// Profile names an entry of Environment.Profiles.
	Profile string `yaml:"profile" json:"profile"`

	// Roles lists what these hosts do. At least one.
	Roles []Role `yaml:"roles" json:"roles" check:"enum=controller|database|login|compute|control-plane|worker|storage"`

	// Features are Slurm node features (constraints) added to those of the
	// profile. Only with Slurm.
	Features []string `yaml:"features,omitempty" json:"features,omitempty"`

	// Weight is Slurm's node weight; lower is used first. Default 1. It
	// overrides topology, so leave it out where placement matters. Only with
	// Slurm.
	Weight int `yaml:"weight,omitempty" json:"weight,omitempty" check:"min=1,max=65535"`

	// Labels are node labels, key to value, for pods to choose hosts by. Only
	// with Kubernetes.
	Labels map[string]string `yaml:"labels,omitempty" json:"labels,omitempty"`

	// Taints keep pods off these hosts that do not tolerate them. Only with
	// Kubernetes; at most 8.
	Taints []Taint `yaml:"taints,omitempty" json:"taints,omitempty"`
}

// Profile is the hardware of one kind of host, said once for every scheduler.
type Profile struct {
	// Sockets is the number of CPU sockets.
	Sockets int `yaml:"sockets" json:"sockets" check:"min=1,max=32"`

	// CoresPerSocket is the number of physical cores in a socket.
	CoresPerSocket int `yaml:"coresPerSocket" json:"coresPerSocket" check:"min=1,max=1024"`

	// ThreadsPerCore is the number of hardware threads a core has. Default 1.
	ThreadsPerCore int `yaml:"threadsPerCore,omitempty" json:"threadsPerCore,omitempty" check:"min=1,max=8"`

	// Memory is what the machine is sold with, for example "2TiB".
	Memory Size `yaml:"memory" json:"memory" check:"min=512"`

	// UsableMemory is what Slurm may hand out. Default: 95 % of Memory, since
	// firmware and kernel keep a part and a host that reports less than it
	// declares is drained.
	UsableMemory Size `yaml:"usableMemory,omitempty" json:"usableMemory,omitempty" check:"min=256"`

	// GPUs lists the accelerators, one entry a type.
	GPUs []GPU `yaml:"gpus,omitempty" json:"gpus,omitempty"`

	// Features are Slurm node features of every host with this profile.
	// Kubernetes does not see them.
	Features []string `yaml:"features,omitempty" json:"features,omitempty"`
}

// GPU is one type of accelerator in a host.
type GPU struct {
	// Type is the name that jobs ask for, lower case, for example "h100".
	Type string `yaml:"type" json:"type"`

	// Count is how many the host has.
	Count int `yaml:"count" json:"count" check:"min=1,max=16"`

	// FirstDevice is the number of the first device file, /dev/nvidia<N>.
	// Default 0; a second type on the same host starts after the first.
	FirstDevice *int `yaml:"firstDevice,omitempty" json:"firstDevice,omitempty" check:"min=0,max=255"`
}

// Topology is the fabric as a tree of switches.
type Topology struct {
	// Switches lists every switch. A leaf names hosts, any other names the
	// switches below it.
	Switches []Switch `yaml:"switches" json:"switches"`
}

// Switch is one switch of the fabric.
type Switch struct {
	// Name of the switch, unique, at most 64 characters.
	Name string `yaml:"name" json:"name"`
	// Hosts is a hostlist expression; only on leaf switches.
	Hosts string `yaml:"hosts,omitempty" json:"hosts,omitempty"`
	// Switches is a hostlist expression of switch names below this one.
	Switches string `yaml:"switches,omitempty" json:"switches,omitempty"`
}
