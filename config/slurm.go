package config

// Slurm configures a Slurm cluster.
type Slurm struct {
	// Version is the release line: "22.05", "24.11" or "26.05".
	Version string `yaml:"version" json:"version" check:"enum=22.05|24.11|26.05"`

	// ClusterName as the accounting database knows it. Default: the
	// environment's name. It cannot change while the cluster exists.
	ClusterName string `yaml:"clusterName,omitempty" json:"clusterName,omitempty"`

	// StateSaveLocation is the directory of slurmctld's state. Default
	// "/var/spool/slurmctld". With more than one controller it must be given
	// and lie on storage that the controllers share.
	StateSaveLocation string `yaml:"stateSaveLocation,omitempty" json:"stateSaveLocation,omitempty"`

	// DrainDeadline is how long a run waits for the jobs of a host that
	// leaves or changes shape, as a Go duration. Default "30m". Past it the
	// run stops, with the choices, and nothing of Slurm has changed.
	DrainDeadline string `yaml:"drainDeadline,omitempty" json:"drainDeadline,omitempty"`

	// Partitions are the queues. At least one.
	Partitions []Partition `yaml:"partitions" json:"partitions"`

	// Accounts, with limits and shares, parents before children.
	Accounts []Account `yaml:"accounts,omitempty" json:"accounts,omitempty"`

	// Associations say which user may charge which account.
	Associations []Association `yaml:"associations,omitempty" json:"associations,omitempty"`

	// QOS are the qualities of service.
	QOS []QOS `yaml:"qos,omitempty" json:"qos,omitempty"`

	// Priority weighs what decides the order of jobs.
	Priority *Priority `yaml:"priority,omitempty" json:"priority,omitempty"`

	// Preemption says which jobs may displace others. Default: none.
	Preemption *Preemption `yaml:"preemption,omitempty" json:"preemption,omitempty"`

	// Database says where accounting data lives. Default: slurmdbd and
	// MariaDB on the database host.
	Database *Database `yaml:"database,omitempty" json:"database,omitempty"`

	// MungeKey is the site's own MUNGE key, base64, as a secret. Default: one
	// is made for the cluster.
	MungeKey Secret `yaml:"mungeKey,omitempty" json:"mungeKey,omitempty"`

	// SlurmUID is the id of the slurm user on every host. Default 64030, Debian's
	// own. It cannot change while the cluster exists.
	SlurmUID int `yaml:"slurmUid,omitempty" json:"slurmUid,omitempty" check:"min=1,max=65533"`
	// SlurmGID is the id of that user's group. Default 64030, Debian's own. It
	// cannot change while the cluster exists.
	SlurmGID int `yaml:"slurmGid,omitempty" json:"slurmGid,omitempty" check:"min=1,max=65533"`

	// PrivateTmp gives every job its own /tmp through job_container/tmpfs.
	// Default false.
	PrivateTmp bool `yaml:"privateTmp,omitempty" json:"privateTmp,omitempty"`

	// HealthCheck runs a program on every compute host, which may drain it.
	// Default: none.
	HealthCheck *HealthCheck `yaml:"healthCheck,omitempty" json:"healthCheck,omitempty"`

	// Extra adds keys to rendered files, file name to key to value, for
	// example {"slurm.conf": {"MaxArraySize": "5000"}}. Keys are checked
	// against the release's key table; keys that a typed field renders are
	// refused.
	Extra map[string]map[string]string `yaml:"extra,omitempty" json:"extra,omitempty"`
}

// HealthCheck is a program that slurmd runs regularly.
type HealthCheck struct {
	// Program is its absolute path on every compute host. The site puts it
	// there.
	Program string `yaml:"program" json:"program"`
	// Interval in seconds between two runs. Default 300.
	Interval int `yaml:"interval,omitempty" json:"interval,omitempty" check:"min=1,max=65535"`
	// NodeState selects the hosts: "ANY" (default) or a list of "IDLE",
	// "ALLOC", "MIXED" and "CYCLE".
	NodeState string `yaml:"nodeState,omitempty" json:"nodeState,omitempty"`
}

// Partition is a Slurm queue.
type Partition struct {
	// Name of the partition.
	Name string `yaml:"name" json:"name"`
	// Hosts is a hostlist expression of compute hosts.
	Hosts string `yaml:"hosts" json:"hosts"`
	// Default makes this the partition of jobs that name none.
	Default bool `yaml:"default,omitempty" json:"default,omitempty"`
	// MaxTime is the longest a job may run, in Slurm's time format, or
	// "UNLIMITED" (the default).
	MaxTime string `yaml:"maxTime,omitempty" json:"maxTime,omitempty"`
	// DefaultTime is given to jobs that ask for no time. Default: MaxTime.
	DefaultTime string `yaml:"defaultTime,omitempty" json:"defaultTime,omitempty"`
	// MinNodes is the fewest nodes a job may ask for; 0 is no bound.
	MinNodes int `yaml:"minNodes,omitempty" json:"minNodes,omitempty" check:"min=0,max=4294967293"`
	// MaxNodes bounds the nodes of one job; 0 is no bound.
	MaxNodes int `yaml:"maxNodes,omitempty" json:"maxNodes,omitempty" check:"min=0,max=4294967293"`
	// PriorityTier orders partitions for scheduling and preemption. Default 1.
	PriorityTier int `yaml:"priorityTier,omitempty" json:"priorityTier,omitempty" check:"min=1,max=65533"`
	// PriorityJobFactor is what Priority.Weights.Partition weighs. Default 1.
	PriorityJobFactor int `yaml:"priorityJobFactor,omitempty" json:"priorityJobFactor,omitempty" check:"min=1,max=65533"`
	// OverSubscribe says whether jobs share nodes: "NO" (default: each has its
	// own cores and GPUs), "EXCLUSIVE" (each has whole nodes), "YES" or
	// "FORCE", the last two with :count if at all.
	OverSubscribe string `yaml:"overSubscribe,omitempty" json:"overSubscribe,omitempty"`
	// PreemptMode is what happens to the partition's jobs when others need their
	// hosts, where preemption goes by partition.
	// Default: the mode of Slurm.Preemption.
	PreemptMode string `yaml:"preemptMode,omitempty" json:"preemptMode,omitempty" check:"enum=off|requeue|cancel|suspend"`
	// GraceTime is the time in seconds between the warning and the end of a
	// displaced job.
	GraceTime int `yaml:"graceTime,omitempty" json:"graceTime,omitempty" check:"min=0,max=4294967293"`
	// State is "UP" (default), "DOWN" (jobs wait), "DRAIN" (no new jobs) or
	// "INACTIVE".
	State string `yaml:"state,omitempty" json:"state,omitempty" check:"enum=UP|DOWN|DRAIN|INACTIVE"`
	// DefMemPerCPU is the memory a job gets for each CPU if it asks for none.
	DefMemPerCPU Size `yaml:"defMemPerCPU,omitempty" json:"defMemPerCPU,omitempty" check:"min=1"`
	// DefMemPerGPU is the memory a job gets for each GPU if it asks for none.
	DefMemPerGPU Size `yaml:"defMemPerGPU,omitempty" json:"defMemPerGPU,omitempty" check:"min=1"`
	// DefCPUPerGPU is the number of CPUs a job gets for each GPU.
	DefCPUPerGPU int `yaml:"defCPUPerGPU,omitempty" json:"defCPUPerGPU,omitempty" check:"min=0,max=4294967293"`
	// AllowAccounts restricts the partition to these accounts.
	AllowAccounts []string `yaml:"allowAccounts,omitempty" json:"allowAccounts,omitempty"`
	// AllowGroups restricts the partition to members of these groups.
	AllowGroups []string `yaml:"allowGroups,omitempty" json:"allowGroups,omitempty"`
	// AllowQOS restricts the partition to these qualities of service.
	AllowQOS []string `yaml:"allowQos,omitempty" json:"allowQos,omitempty"`
	// QOS is the quality of service whose limits apply to the partition as a
	// whole.
	QOS string `yaml:"qos,omitempty" json:"qos,omitempty"`
	// Extra keys of the partition's line, checked like Slurm.Extra.
	Extra map[string]string `yaml:"extra,omitempty" json:"extra,omitempty"`
}

// Limits bound what an account or a user holds at one time.
type Limits struct {
	// GrpTRES bounds all running jobs together, for example
	// {"gres/gpu": 16, "cpu": 256}.
	GrpTRES map[string]int64 `yaml:"grpTRES,omitempty" json:"grpTRES,omitempty"`
	// MaxTRESPerJob bounds each job.
	MaxTRESPerJob map[string]int64 `yaml:"maxTRESPerJob,omitempty" json:"maxTRESPerJob,omitempty"`
	// MaxJobs bounds the running jobs; 0 is no bound.
	MaxJobs int `yaml:"maxJobs,omitempty" json:"maxJobs,omitempty" check:"min=0,max=4294967293"`
	// MaxSubmitJobs bounds running and waiting jobs; 0 is no bound.
	MaxSubmitJobs int `yaml:"maxSubmitJobs,omitempty" json:"maxSubmitJobs,omitempty" check:"min=0,max=4294967293"`
	// MaxWall bounds a job's time, in Slurm's format.
	MaxWall string `yaml:"maxWall,omitempty" json:"maxWall,omitempty"`
}

// Account is a bank account that jobs are charged to.
type Account struct {
	// Name, lower case: Slurm folds names to lower case.
	Name string `yaml:"name" json:"name"`
	// Parent account. Default "root".
	Parent string `yaml:"parent,omitempty" json:"parent,omitempty"`
	// Description shown by sacctmgr. Default: the name.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Organization shown by sacctmgr. Default: the parent's name.
	Organization string `yaml:"organization,omitempty" json:"organization,omitempty"`
	// FairShare is the account's share among its siblings. Default 1.
	FairShare *int `yaml:"fairShare,omitempty" json:"fairShare,omitempty" check:"min=0,max=2147483646"`
	// QOS lists the qualities of service that members may use. Default: what the
	// parent has.
	QOS []string `yaml:"qos,omitempty" json:"qos,omitempty"`
	// DefaultQOS is the quality of service of jobs that name none, one of QOS.
	DefaultQOS string `yaml:"defaultQos,omitempty" json:"defaultQos,omitempty"`
	// Limits of the account as a whole.
	Limits Limits `yaml:"limits,omitempty" json:"limits,omitzero"`
}

// Association lets a user charge an account.
type Association struct {
	// User is a name from Identity.Users.
	User string `yaml:"user" json:"user"`
	// Account is a name from Slurm.Accounts.
	Account string `yaml:"account" json:"account"`
	// Default makes this the user's account for jobs that name none. A user
	// with one association has it by default.
	Default bool `yaml:"default,omitempty" json:"default,omitempty"`
	// FairShare is the user's share within the account. Default 1.
	FairShare *int `yaml:"fairShare,omitempty" json:"fairShare,omitempty" check:"min=0,max=2147483646"`
	// QOS lists the qualities of service that the user may use here. Default:
	// what the account has.
	QOS []string `yaml:"qos,omitempty" json:"qos,omitempty"`
	// DefaultQOS is the quality of service of the user's jobs that name none.
	DefaultQOS string `yaml:"defaultQos,omitempty" json:"defaultQos,omitempty"`
	// AdminLevel is "none" (default), "operator" or "admin".
	AdminLevel string `yaml:"adminLevel,omitempty" json:"adminLevel,omitempty" check:"enum=none|operator|admin"`
	// Limits of the user in this account.
	Limits Limits `yaml:"limits,omitempty" json:"limits,omitzero"`
}

// QOS is a quality of service.
type QOS struct {
	// Name, lower case.
	Name string `yaml:"name" json:"name"`
	// Description shown by sacctmgr. Default: the name.
	Description string `yaml:"description,omitempty" json:"description,omitempty"`
	// Priority added to jobs, weighed by Priority.Weights.QOS. Default 0.
	Priority int `yaml:"priority,omitempty" json:"priority,omitempty" check:"min=0,max=2147483646"`
	// Preempts names the QOS whose jobs this one may displace.
	Preempts []string `yaml:"preempts,omitempty" json:"preempts,omitempty"`
	// PreemptMode overrides the cluster's mode for jobs of this QOS:
	// "cluster" (default), "requeue", "cancel" or "suspend".
	PreemptMode string `yaml:"preemptMode,omitempty" json:"preemptMode,omitempty" check:"enum=cluster|requeue|cancel|suspend"`
	// GraceTime is the time in seconds between the warning and the end of a
	// displaced job.
	GraceTime int `yaml:"graceTime,omitempty" json:"graceTime,omitempty" check:"min=0,max=4294967293"`
	// MaxTRESPerUser bounds what one user holds in this QOS.
	MaxTRESPerUser map[string]int64 `yaml:"maxTRESPerUser,omitempty" json:"maxTRESPerUser,omitempty"`
	// MaxJobsPerUser bounds one user's running jobs; 0 is no bound.
	MaxJobsPerUser int `yaml:"maxJobsPerUser,omitempty" json:"maxJobsPerUser,omitempty" check:"min=0,max=4294967293"`
	// UsageFactor scales what a job's time costs. Default 1.
	UsageFactor *float64 `yaml:"usageFactor,omitempty" json:"usageFactor,omitempty" check:"min=0,max=1000000"`
	// Flags such as "DenyOnLimit" or "NoReserve".
	Flags []string `yaml:"flags,omitempty" json:"flags,omitempty"`
	// Limits of the QOS as a whole and per job.
	Limits Limits `yaml:"limits,omitempty" json:"limits,omitzero"`
}

// Priority configures the multifactor plugin.
type Priority struct {
	// DecayHalfLife is the time after which past use counts half, in Slurm's
	// format. Default "7-0".
	DecayHalfLife string `yaml:"decayHalfLife,omitempty" json:"decayHalfLife,omitempty"`
	// MaxAge is the waiting time that earns the whole age weight. Default "7-0".
	MaxAge string `yaml:"maxAge,omitempty" json:"maxAge,omitempty"`
	// FavorSmall prefers small jobs over large ones. Default false.
	FavorSmall bool `yaml:"favorSmall,omitempty" json:"favorSmall,omitempty"`
	// CalcPeriod is the time between two computations, in Slurm's format.
	// Default: Slurm's, 5 minutes.
	CalcPeriod string `yaml:"calcPeriod,omitempty" json:"calcPeriod,omitempty"`
	// Flags of the plugin, such as "MAX_TRES" or "DEPTH_OBLIVIOUS".
	Flags []string `yaml:"flags,omitempty" json:"flags,omitempty"`
	// Weights of each factor. A factor left at 0 does not count.
	Weights PriorityWeights `yaml:"weights,omitempty" json:"weights,omitzero"`
}

// PriorityWeights are the weights of the multifactor plugin.
type PriorityWeights struct {
	// Age rewards waiting. Default 1000.
	Age *int `yaml:"age,omitempty" json:"age,omitempty" check:"min=0,max=2147483646"`
	// FairShare rewards those who used less than their share. Default 10000.
	FairShare *int `yaml:"fairShare,omitempty" json:"fairShare,omitempty" check:"min=0,max=2147483646"`
	// JobSize rewards large jobs (small ones with Priority.FavorSmall). Default 1000.
	JobSize *int `yaml:"jobSize,omitempty" json:"jobSize,omitempty" check:"min=0,max=2147483646"`
	// Partition weighs Slurm.Partitions.PriorityJobFactor.
	Partition int `yaml:"partition,omitempty" json:"partition,omitempty" check:"min=0,max=2147483646"`
	// QOS rewards the priority of the QOS. Default 10000.
	QOS *int `yaml:"qos,omitempty" json:"qos,omitempty" check:"min=0,max=2147483646"`
	// TRES rewards what a job asks for, for example {"gres/gpu": 2000}.
	TRES map[string]int `yaml:"tres,omitempty" json:"tres,omitempty"`
}

// Preemption says how running jobs may be displaced.
type Preemption struct {
	// By is "qos" or "partition".
	By string `yaml:"by" json:"by" check:"enum=qos|partition"`
	// Mode is "requeue", "cancel" or "suspend".
	Mode string `yaml:"mode" json:"mode" check:"enum=requeue|cancel|suspend"`
	// ExemptTime is how long a job runs undisturbed, in Slurm's format.
	ExemptTime string `yaml:"exemptTime,omitempty" json:"exemptTime,omitempty"`
}

// Database says where accounting data lives.
type Database struct {
	// Slurmdbd is the address of a slurmdbd that the site runs already, as
	// host[:port]. Nothing is then installed for accounting.
	Slurmdbd string `yaml:"slurmdbd,omitempty" json:"slurmdbd,omitempty"`
	// MariaDB is a database server that the site runs already.
	MariaDB *MariaDB `yaml:"mariadb,omitempty" json:"mariadb,omitempty"`
}

// MariaDB is a database server of the site's own.
type MariaDB struct {
	// Host name or address.
	Host string `yaml:"host" json:"host"`
	// Port. Default 3306.
	Port int `yaml:"port,omitempty" json:"port,omitempty" check:"min=1,max=65535"`
	// Database to use. Default "slurm_acct_db".
	Database string `yaml:"database,omitempty" json:"database,omitempty"`
	// User to log in as. Default "slurm".
	User string `yaml:"user,omitempty" json:"user,omitempty"`
	// Password, as a secret.
	Password Secret `yaml:"password" json:"password"`
}
