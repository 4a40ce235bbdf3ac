package config

// Defaults of fields that a file may leave out.
const (
	defaultNodeWeight        = 1
	defaultThreadsPerCore    = 1
	defaultUsablePercent     = 95
	defaultSSHUser           = "root"
	defaultSSHPort           = 22
	defaultShell             = "/bin/bash"
	defaultHomePath          = "/home"
	defaultBrick             = "/srv/gpucluster/home"
	defaultStateSaveLocation = "/var/spool/slurmctld"
	defaultDrainDeadline     = "30m"
	defaultSlurmID           = 64030
	defaultPriorityTier      = 1
	defaultFairShare         = 1
	defaultHalfLife          = "7-0"
	defaultMaxAge            = "7-0"
	defaultWeightAge         = 1000
	defaultWeightFairShare   = 10000
	defaultWeightJobSize     = 1000
	defaultWeightQOS         = 10000
	defaultHealthInterval    = 300
	defaultMariaDBPort       = 3306
	defaultMariaDBDatabase   = "slurm_acct_db"
	defaultMariaDBUser       = "slurm"

	unlimited = "UNLIMITED"
)

// SetDefaults fills what was left out. It changes nothing that was given, and
// calling it again changes nothing.
func (e *Environment) SetDefaults() {
	for name, profile := range e.Profiles {
		profile.setDefaults()
		e.Profiles[name] = profile
	}
	for i := range e.Hosts {
		set(&e.Hosts[i].Weight, defaultNodeWeight)
	}
	if e.Inventory != nil {
		e.Inventory.setDefaults()
	}
	if e.Identity != nil {
		e.Identity.setDefaults()
	}
	if e.Home != nil {
		set(&e.Home.Path, defaultHomePath)
		if e.Home.Kind == HomeGlusterFS {
			set(&e.Home.Brick, defaultBrick)
		}
	}
	if e.Slurm != nil {
		set(&e.Slurm.ClusterName, e.Name)
		if e.count(RoleController) <= 1 {
			set(&e.Slurm.StateSaveLocation, defaultStateSaveLocation)
		}
		e.Slurm.setDefaults()
	}
	if e.Kubernetes != nil {
		e.setKubernetesDefaults()
	}
	e.setArtifactDefaults()
}

func (p *Profile) setDefaults() {
	set(&p.ThreadsPerCore, defaultThreadsPerCore)
	set(&p.UsableMemory, p.Memory*defaultUsablePercent/100)
	next := 0
	for i := range p.GPUs {
		setPointer(&p.GPUs[i].FirstDevice, next)
		next = *p.GPUs[i].FirstDevice + p.GPUs[i].Count
	}
}

func (i *Inventory) setDefaults() {
	set(&i.DNS, DNSExisting)
	set(&i.SSH.User, defaultSSHUser)
	set(&i.SSH.Port, defaultSSHPort)
}

func (i *Identity) setDefaults() {
	set(&i.Source, IdentityManaged)
	for n := range i.Users {
		set(&i.Users[n].Shell, defaultShell)
	}
}

func (s *Slurm) setDefaults() {
	set(&s.DrainDeadline, defaultDrainDeadline)
	set(&s.SlurmUID, defaultSlurmID)
	set(&s.SlurmGID, defaultSlurmID)
	if s.HealthCheck != nil {
		set(&s.HealthCheck.Interval, defaultHealthInterval)
		set(&s.HealthCheck.NodeState, "ANY")
	}
	for i := range s.Partitions {
		set(&s.Partitions[i].MaxTime, unlimited)
		set(&s.Partitions[i].PriorityTier, defaultPriorityTier)
	}
	for i := range s.Accounts {
		account := &s.Accounts[i]
		set(&account.Parent, rootAccount)
		set(&account.Description, account.Name)
		set(&account.Organization, account.Parent)
		setPointer(&account.FairShare, defaultFairShare)
	}
	s.setAssociationDefaults()
	for i := range s.QOS {
		set(&s.QOS[i].Description, s.QOS[i].Name)
		set(&s.QOS[i].PreemptMode, "cluster")
		setPointer(&s.QOS[i].UsageFactor, 1.0)
	}
	if s.Priority == nil {
		s.Priority = &Priority{}
	}
	s.Priority.setDefaults()
	if s.Database != nil && s.Database.MariaDB != nil {
		set(&s.Database.MariaDB.Port, defaultMariaDBPort)
		set(&s.Database.MariaDB.Database, defaultMariaDBDatabase)
		set(&s.Database.MariaDB.User, defaultMariaDBUser)
	}
}

func (s *Slurm) setAssociationDefaults() {
	perUser := map[string]int{}
	for _, association := range s.Associations {
		perUser[association.User]++
	}
	for i := range s.Associations {
		association := &s.Associations[i]
		setPointer(&association.FairShare, defaultFairShare)
		set(&association.AdminLevel, "none")
		if perUser[association.User] == 1 {
			association.Default = true
		}
	}
}

func (p *Priority) setDefaults() {
	set(&p.DecayHalfLife, defaultHalfLife)
	set(&p.MaxAge, defaultMaxAge)
	setPointer(&p.Weights.Age, defaultWeightAge)
	setPointer(&p.Weights.FairShare, defaultWeightFairShare)
	setPointer(&p.Weights.JobSize, defaultWeightJobSize)
	setPointer(&p.Weights.QOS, defaultWeightQOS)
}

// set gives a field that holds its zero value a default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// setPointer gives a field that is absent a default; an explicit zero stays.
func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

// valueOr reads an optional field.
func valueOr[T any](field *T, otherwise T) T {
	if field == nil {
		return otherwise
	}
	return *field
}
