package slurmconf

import "strings"

// Defaults of fields that may be left out.
const (
	DefaultSlurmUser         = "slurm"
	DefaultConfigDir         = "/etc/slurm"
	DefaultStateSaveLocation = "/var/spool/slurmctld"
	DefaultSlurmdSpoolDir    = "/var/spool/slurmd"
	DefaultPrivateTmpPath    = "/var/spool/slurm-tmp"
	DefaultDevicePrefix      = "/dev/nvidia"
	DefaultDatabase          = "slurm_acct_db"
	DefaultHalfLife          = "7-0"
	DefaultHealthSeconds     = 300
)

var (
	defaultEnforce = []string{"associations", "limits", "qos", "safe"}
	defaultTmpDirs = []string{"/tmp", "/dev/shm"}
)

// withDefaults returns c with what was left out filled in. The slices of c are
// shared and not changed.
func (c Cluster) withDefaults() Cluster {
	set(&c.Paths.SlurmUser, DefaultSlurmUser)
	set(&c.Paths.ConfigDir, DefaultConfigDir)
	set(&c.Paths.StateSaveLocation, DefaultStateSaveLocation)
	set(&c.Paths.SlurmdSpoolDir, DefaultSlurmdSpoolDir)
	set(&c.MPIDefault, c.Version.DefaultMPI())
	set(&c.Priority.DecayHalfLife, DefaultHalfLife)
	set(&c.Priority.MaxAge, DefaultHalfLife)
	set(&c.OldestReader, c.Version)
	if c.Accounting != nil {
		a := *c.Accounting
		if a.Enforce == nil {
			a.Enforce = defaultEnforce
		}
		set(&a.Storage.Host, "localhost")
		set(&a.Storage.Database, DefaultDatabase)
		set(&a.Storage.User, "slurm")
		c.Accounting = &a
	}
	if c.PrivateTmp != nil {
		p := *c.PrivateTmp
		set(&p.BasePath, DefaultPrivateTmpPath)
		if len(p.Dirs) == 0 {
			p.Dirs = defaultTmpDirs
		}
		c.PrivateTmp = &p
	}
	if c.HealthCheck != nil {
		h := *c.HealthCheck
		set(&h.Seconds, DefaultHealthSeconds)
		set(&h.NodeState, "ANY")
		c.HealthCheck = &h
	}
	return c
}

func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// severalPerHost tells whether nodes share a host, as simulated ones do.
func (c Cluster) severalPerHost() bool {
	seen := map[string]bool{}
	for i := range c.Nodes {
		if h := c.Nodes[i].Hostname; h != "" {
			if seen[h] {
				return true
			}
			seen[h] = true
		}
	}
	return false
}

func (c Cluster) spoolDir() string {
	if c.severalPerHost() && !strings.Contains(c.Paths.SlurmdSpoolDir, "%n") {
		return c.Paths.SlurmdSpoolDir + "/%n"
	}
	return c.Paths.SlurmdSpoolDir
}
