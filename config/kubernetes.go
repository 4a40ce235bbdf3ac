package config

// Kubernetes configures a Kubernetes cluster.
type Kubernetes struct {
	// Version is the minor release: "1.36" or "1.37". The toolkit knows which
	// patch of it to install. A cluster that exists is upgraded in place, by one
	// minor release at a time, and never goes back.
	Version string `yaml:"version" json:"version" check:"enum=1.36|1.37"`

	// PodCIDR is the network of pods, in CIDR form. Each host gets a /24 of it.
	// Default "10.244.0.0/16". It cannot change while the cluster exists.
	PodCIDR string `yaml:"podCIDR,omitempty" json:"podCIDR,omitempty"`

	// ServiceCIDR is the network of services, in CIDR form, /12 to /24. Default
	// "10.96.0.0/16". It cannot change while the cluster exists.
	ServiceCIDR string `yaml:"serviceCIDR,omitempty" json:"serviceCIDR,omitempty"`

	// Endpoint is where the API is reached, as host[:port]; the port is 6443
	// unless another is given. Default: the control plane; with more than one,
	// "127.0.0.1:6444", where every host has a balancer of its own that leads to
	// those that work. Another address is that of a balancer of the site. It
	// cannot change while the cluster exists.
	Endpoint string `yaml:"endpoint,omitempty" json:"endpoint,omitempty"`

	// EvictionDeadline is how long a run waits for the pods of a host that
	// leaves or is upgraded, as a Go duration. Default "30m". Past it the run
	// stops, with the choices, and no pod has been forced.
	EvictionDeadline string `yaml:"evictionDeadline,omitempty" json:"evictionDeadline,omitempty"`

	// UpgradeAtOnce is how many workers at most are out of work at the same time
	// while the cluster is upgraded. Default 1.
	UpgradeAtOnce int `yaml:"upgradeAtOnce,omitempty" json:"upgradeAtOnce,omitempty" check:"min=1"`

	// SystemReserved is what hosts keep for the system's own daemons, by name of
	// a profile. Default: of each profile a hundredth of the CPUs (0.1 to 4) and
	// 2 % of the memory (256MiB to 16GiB); in a lab 0.1 and 256MiB, since its
	// hosts share a machine that is smaller than they say.
	SystemReserved map[string]Reserved `yaml:"systemReserved,omitempty" json:"systemReserved,omitempty"`

	// Queueing says what decides when a job of a team starts. Default "kueue".
	Queueing Queueing `yaml:"queueing,omitempty" json:"queueing,omitempty" check:"enum=kueue|volcano|none"`

	// Teams are the tenants: people who share a namespace and GPUs.
	Teams []Team `yaml:"teams,omitempty" json:"teams,omitempty"`

	// PriorityClasses are the priorities that a job can have. Default: none, so
	// that all jobs are equal.
	PriorityClasses []PriorityClass `yaml:"priorityClasses,omitempty" json:"priorityClasses,omitempty"`

	// Preemption says which running jobs a waiting one may displace. Not with
	// queueing none.
	Preemption *QueuePreemption `yaml:"preemption,omitempty" json:"preemption,omitempty"`

	// GPUOperator gives the GPUs of workers to pods. Default: with its defaults
	// where workers have GPUs; in a lab none.
	GPUOperator *GPUOperator `yaml:"gpuOperator,omitempty" json:"gpuOperator,omitempty"`

	// RDMA gives pods the hosts' InfiniBand or RoCE adapters. Default: none has
	// them. Not in a lab.
	RDMA *RDMA `yaml:"rdma,omitempty" json:"rdma,omitempty"`

	// JobSet installs JobSet, for jobs of several kinds of pods, as a leader and
	// its workers. With queueing kueue a JobSet starts whole. Default false.
	JobSet bool `yaml:"jobSet,omitempty" json:"jobSet,omitempty"`

	// LeaderWorkerSet installs LeaderWorkerSet, for groups of pods that serve
	// together, as a model on several hosts. With queueing kueue a group starts
	// whole. Default false.
	LeaderWorkerSet bool `yaml:"leaderWorkerSet,omitempty" json:"leaderWorkerSet,omitempty"`

	// Monitoring says what tells of the cluster's work. Default: nothing does.
	Monitoring *Monitoring `yaml:"monitoring,omitempty" json:"monitoring,omitempty"`
}

// Queueing says what admits jobs.
type Queueing string

// What admits jobs.
const (
	// QueueingKueue means that Kueue holds jobs until their quota is free.
	QueueingKueue Queueing = "kueue"
	// QueueingVolcano means that Volcano schedules jobs from queues; it counts
	// GPUs of all types together.
	QueueingVolcano Queueing = "volcano"
	// QueueingNone means that pods are scheduled at once, without quotas.
	QueueingNone Queueing = "none"
)

// Reserved is what a host keeps from pods.
type Reserved struct {
	// CPU is in cores as Kubernetes counts them, which are hardware threads, for
	// example 1.5.
	CPU *float64 `yaml:"cpu,omitempty" json:"cpu,omitempty" check:"min=0"`
	// Memory is an amount such as "8GiB", at least 64MiB.
	Memory Size `yaml:"memory,omitempty" json:"memory,omitempty" check:"min=64"`
}

// Taint keeps pods that do not tolerate it off a host.
type Taint struct {
	// Key is a name, or a domain, a slash and a name, as "example.org/render".
	Key string `yaml:"key" json:"key"`
	// Value that a toleration has to have. Default: none.
	Value string `yaml:"value,omitempty" json:"value,omitempty"`
	// Effect is what happens to a pod that does not tolerate it.
	Effect TaintEffect `yaml:"effect" json:"effect" check:"enum=NoSchedule|PreferNoSchedule|NoExecute"`
}

// TaintEffect is what a taint does.
type TaintEffect string

// What a taint does.
const (
	// TaintNoSchedule keeps new pods away.
	TaintNoSchedule TaintEffect = "NoSchedule"
	// TaintPreferNoSchedule keeps new pods away while they fit elsewhere.
	TaintPreferNoSchedule TaintEffect = "PreferNoSchedule"
	// TaintNoExecute keeps new pods away and evicts those that run.
	TaintNoExecute TaintEffect = "NoExecute"
)

// Team is a tenant of a Kubernetes cluster: a namespace, people, and GPUs.
type Team struct {
	// Name of the team and of its queue, a DNS label.
	Name string `yaml:"name" json:"name"`
	// Namespace in which the team works, its own. Default: the name.
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"`
	// Users are members, names from Identity.Users.
	Users []string `yaml:"users,omitempty" json:"users,omitempty"`
	// Groups whose users are members, names from Identity.Groups.
	Groups []string `yaml:"groups,omitempty" json:"groups,omitempty"`
	// Cohort is a name that teams share which lend each other what they do not
	// use. Default: the team lends and borrows nothing.
	Cohort string `yaml:"cohort,omitempty" json:"cohort,omitempty"`
	// Weight is the team's share of what its cohort has to lend. Default 1.
	Weight int `yaml:"weight,omitempty" json:"weight,omitempty" check:"min=1,max=1000000"`
	// GPUs are the team's quotas, by type of GPU. The team's jobs get no GPU of
	// a type that is not named.
	GPUs map[string]GPUQuota `yaml:"gpus,omitempty" json:"gpus,omitempty"`
}

// GPUQuota is how many GPUs of one type a team has.
type GPUQuota struct {
	// Nominal is how many are the team's own. Default 0: it only borrows. All
	// teams together have at most what the workers have.
	Nominal int `yaml:"nominal,omitempty" json:"nominal,omitempty" check:"min=0,max=1000000"`
	// BorrowingLimit is how many the team may use beyond its own. Default: all
	// that its cohort lends.
	BorrowingLimit *int `yaml:"borrowingLimit,omitempty" json:"borrowingLimit,omitempty" check:"min=0,max=1000000"`
	// LendingLimit is how many of its own the team lends at most. Default: all
	// that it does not use.
	LendingLimit *int `yaml:"lendingLimit,omitempty" json:"lendingLimit,omitempty" check:"min=0,max=1000000"`
}

// PriorityClass is a priority that a job can have.
type PriorityClass struct {
	// Name, a DNS label.
	Name string `yaml:"name" json:"name"`
	// Value by which jobs are ordered; higher goes first. Default 0, which is
	// that of jobs without a class.
	Value int `yaml:"value,omitempty" json:"value,omitempty" check:"min=-1000000000,max=1000000000"`
	// Description says what it is for. Default: none.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
}

// QueuePreemption says which running jobs a waiting job may displace.
type QueuePreemption struct {
	// WithinTeam is about jobs of the waiting job's own team. Default "lower".
	WithinTeam TeamPreemption `yaml:"withinTeam,omitempty" json:"withinTeam,omitempty" check:"enum=never|lower|lowerOrNewer"`
	// Reclaim is about jobs with which other teams use what the waiting job's
	// team has lent. Default "any".
	Reclaim ReclaimPolicy `yaml:"reclaim,omitempty" json:"reclaim,omitempty" check:"enum=never|lower|any"`
}

// TeamPreemption says which jobs of its own team a job may displace.
type TeamPreemption string

// Which jobs of its own team a job may displace.
const (
	// TeamPreemptNever means none.
	TeamPreemptNever TeamPreemption = "never"
	// TeamPreemptLower means those of lower priority.
	TeamPreemptLower TeamPreemption = "lower"
	// TeamPreemptLowerOrNewer means those of lower priority, and those of equal
	// priority that are younger; not with Volcano.
	TeamPreemptLowerOrNewer TeamPreemption = "lowerOrNewer"
)

// ReclaimPolicy says by displacing which jobs a team gets back what it has lent.
type ReclaimPolicy string

// By displacing which jobs a team gets back what it has lent.
const (
	// ReclaimNever means none: it waits until they end.
	ReclaimNever ReclaimPolicy = "never"
	// ReclaimLower means those of lower priority; not with Volcano.
	ReclaimLower ReclaimPolicy = "lower"
	// ReclaimAny means those of any priority.
	ReclaimAny ReclaimPolicy = "any"
)
