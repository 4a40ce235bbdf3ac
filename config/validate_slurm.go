package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

var clusterName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

func (v *validator) slurm() {
	s := v.env.Slurm
	if s == nil || v.env.Scheduler == SchedulerKubernetes {
		return
	}
	v.clusterName(s)
	v.stateSaveLocation(s)
	if deadline, err := time.ParseDuration(s.DrainDeadline); s.DrainDeadline != "" && (err != nil || deadline < 0) {
		v.addf(KindInvalid, "slurm.drainDeadline", "write it as 30m or 2h", "%q is not a duration", s.DrainDeadline)
	}
	v.slurmIDs(s)
	v.database(s)
	v.partitions(s)
	v.qualities(s)
	v.accountTree(s)
	v.associations(s)
	v.priority(s)
	v.preemption(s)
	if s.HealthCheck != nil {
		v.directory("slurm.healthCheck.program", s.HealthCheck.Program)
		if s.HealthCheck.NodeState != "" && !healthStates.MatchString(s.HealthCheck.NodeState) {
			v.addf(KindInvalid, "slurm.healthCheck.nodeState", "write ANY, or a list of IDLE, ALLOC, MIXED and CYCLE", "%q selects no hosts", s.HealthCheck.NodeState)
		}
	}
	v.rendered()
}

func (v *validator) clusterName(s *Slurm) {
	name, path := s.ClusterName, "slurm.clusterName"
	if name == "" || v.isBroken(path) || name == v.env.Name && (v.given == nil || !v.given(path)) {
		return
	}
	if !clusterName.MatchString(name) || len(name) > maxClusterName {
		v.addf(KindInvalid, path, fmt.Sprintf("lower-case letters, digits, \"_\" and \"-\", at most %d", maxClusterName),
			"%q cannot name a cluster", name)
	}
}

// stateSaveLocation checks where slurmctld keeps its state: controllers that
// take over from each other must see the same.
func (v *validator) stateSaveLocation(s *Slurm) {
	path := "slurm.stateSaveLocation"
	v.directory(path, s.StateSaveLocation)
	controllers := v.byRole[RoleController]
	if controllers < 2 || v.isBroken(path) {
		return
	}
	switch {
	case s.StateSaveLocation == "":
		v.addf(KindMissing, path, "give a directory on storage that all controllers share",
			"%d controllers, but no shared stateSaveLocation", controllers)
	case v.env.Lab != nil && (v.env.Home == nil || !within(s.StateSaveLocation, v.env.Home.Path)):
		v.addf(KindConflict, path, "in the lab, choose a directory within a shared home",
			"%d controllers, but %s is not shared by them", controllers, s.StateSaveLocation)
	}
}

// slurmIDs checks that the slurm user's ids are nobody else's.
func (v *validator) slurmIDs(s *Slurm) {
	if v.env.Identity == nil {
		return
	}
	for _, user := range v.env.Identity.Users {
		if user.UID == s.SlurmUID {
			v.addf(KindCollision, "slurm.slurmUid", "", "uid %d is that of user %s", s.SlurmUID, user.Name)
		}
	}
	for _, group := range v.env.Identity.Groups {
		if group.GID == s.SlurmGID {
			v.addf(KindCollision, "slurm.slurmGid", "", "gid %d is that of group %s", s.SlurmGID, group.Name)
		}
	}
}

var healthStates = regexp.MustCompile(`^(ANY|(IDLE|ALLOC|MIXED|CYCLE)(,(IDLE|ALLOC|MIXED|CYCLE))*)$`)

var overSubscribe = regexp.MustCompile(`^(NO|EXCLUSIVE|(YES|FORCE)(:[1-9][0-9]{0,4})?)$`)

var hostPort = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?$`)

// database checks that accounting has exactly one home, if anything needs one.
func (v *validator) database(s *Slurm) {
	hosts := v.byRole[RoleDatabase]
	external := s.Database != nil && s.Database.Slurmdbd != ""
	if s.Database != nil {
		if external && s.Database.MariaDB != nil {
			v.add(KindConflict, "slurm.database.mariadb", "keep one of them", "the site's slurmdbd has its own database")
		}
		if external && !hostPort.MatchString(s.Database.Slurmdbd) {
			v.addf(KindInvalid, "slurm.database.slurmdbd", "write it as host or host:port", "%q is not an address", s.Database.Slurmdbd)
		}
		if external && !s.MungeKey.Set && !v.isBroken("slurm.mungeKey") {
			v.add(KindMissing, "slurm.database.slurmdbd", "set slurm.mungeKey, as a secret, to what base64 -w0 /etc/munge/munge.key prints where that slurmdbd runs",
				"the site's slurmdbd answers only to its own MUNGE key, and no mungeKey is given")
		}
		if m := s.Database.MariaDB; m != nil && m.Host != "" && !hostPort.MatchString(m.Host+":1") {
			v.addf(KindInvalid, "slurm.database.mariadb.host", "", "%q is not a host name or address", m.Host)
		}
	}
	if v.isBroken("hosts") || v.unreadable() {
		return
	}
	needs := s.needsDatabase()
	switch {
	case external && hosts > 0:
		v.add(KindConflict, "slurm.database.slurmdbd", "remove the role database, or this key", "a host has the role database too")
	case !external && hosts == 0 && s.Database != nil && s.Database.MariaDB != nil:
		v.add(KindMissing, "slurm.database.mariadb", "give one host the role database: slurmdbd runs there", "no host runs slurmdbd")
	case !external && hosts == 0 && needs != "":
		v.addf(KindMissing, "slurm."+needs, "give one host the role database, or name the site's slurmdbd in slurm.database.slurmdbd",
			"this needs a database, and no host has the role database")
	}
}

// needsDatabase names the first setting that only a database can hold.
func (s *Slurm) needsDatabase() string {
	switch {
	case len(s.Accounts) > 0:
		return "accounts"
	case len(s.Associations) > 0:
		return "associations"
	case len(s.QOS) > 0:
		return "qos"
	case s.Preemption != nil && s.Preemption.By == "qos":
		return "preemption"
	case s.Priority != nil && len(s.Priority.Weights.TRES) > 0:
		return "priority.weights.tres"
	}
	for i, p := range s.Partitions {
		if p.QOS != "" || len(p.AllowAccounts) > 0 || len(p.AllowQOS) > 0 {
			return strictyaml.Item("partitions", i)
		}
	}
	return ""
}

func (v *validator) partitions(s *Slurm) {
	compute := map[string]bool{}
	for _, name := range v.computeHosts() {
		compute[name] = true
	}
	seen := map[string]bool{}
	covered := map[string]bool{}
	byDefault := ""
	for i, p := range s.Partitions {
		path := strictyaml.Item("slurm.partitions", i)
		v.partitionName(path+".name", p.Name, seen)
		names := v.expand(path+".hosts", p.Hosts)
		for _, name := range names {
			covered[name] = true
		}
		v.members(path+".hosts", names, compute)
		if p.Default {
			if byDefault != "" {
				v.addf(KindConflict, path+".default", "keep one", "partition %q is the default already", byDefault)
			}
			byDefault = p.Name
		}
		v.partitionTimes(path, p)
		v.references(path+".allowAccounts", p.AllowAccounts, "account", v.accounts)
		if v.env.Identity != nil && v.env.Identity.Source == IdentityManaged {
			v.references(path+".allowGroups", p.AllowGroups, "group", v.groups)
		}
		if p.OverSubscribe != "" && !overSubscribe.MatchString(p.OverSubscribe) {
			v.addf(KindInvalid, path+".overSubscribe", "write NO, EXCLUSIVE, YES, FORCE, YES:4 or FORCE:4", "%q is not a way to share nodes", p.OverSubscribe)
		}
		if p.MinNodes > p.MaxNodes && p.MaxNodes > 0 {
			v.addf(KindConflict, path+".minNodes", "", "%d is more than maxNodes, %d", p.MinNodes, p.MaxNodes)
		}
		if p.DefMemPerCPU > 0 && p.DefMemPerGPU > 0 {
			v.add(KindConflict, path+".defMemPerCPU", "keep one", "Slurm takes defMemPerCPU or defMemPerGPU, not both")
		}
		if p.PreemptMode != "" && !v.isBroken("slurm.preemption") && (s.Preemption == nil || s.Preemption.By != "partition") {
			v.add(KindConflict, path+".preemptMode", "write by: partition in slurm.preemption", "preemption does not go by partition, so this does nothing")
		}
		v.references(path+".allowQos", p.AllowQOS, "qos", v.qos)
		v.reference(path+".qos", p.QOS, "qos", v.qos)
		if p.MaxNodes > len(names) && len(names) > 0 {
			v.addf(KindWarning, path+".maxNodes", "", "the partition has only %s", count(len(names), "host"))
		}
	}
	if v.isBroken("hosts") || v.isBroken("slurm.partitions") || v.unreadable() || len(s.Partitions) == 0 {
		return
	}
	var outside []string
	for _, name := range v.computeHosts() {
		if !covered[name] {
			outside = append(outside, name)
		}
	}
	if len(outside) > 0 {
		v.addf(KindWarning, "slurm.partitions", "", "compute hosts in no partition: %s", hostlist.Compress(outside))
	}
	if byDefault == "" {
		v.add(KindWarning, "slurm.partitions", "set default: true on one", "no default partition: jobs that name none are refused")
	}
}

func (v *validator) partitionName(path, name string, seen map[string]bool) {
	switch {
	case name == "" || v.isBroken(path):
		return
	case !slurmWord.MatchString(name):
		v.addf(KindInvalid, path, "letters, digits, \"_\", \".\" and \"-\"", "%q cannot name a partition", name)
	case slices.Contains(reservedNames, strings.ToLower(name)):
		v.addf(KindCollision, path, "choose another name", "%q is reserved by Slurm", name)
	case seen[name]:
		v.addf(KindDuplicate, path, "", "partition %q is listed twice", name)
	}
	seen[name] = true
}

// members checks that a partition's hosts exist and run jobs.
func (v *validator) members(path string, names []string, compute map[string]bool) {
	if v.isBroken("hosts") || v.unreadable() {
		return
	}
	var unknown, idle []string
	for _, name := range names {
		if _, ok := v.hosts[name]; !ok {
			unknown = append(unknown, name)
		} else if !compute[name] {
			idle = append(idle, name)
		}
	}
	if len(unknown) > 0 {
		known := map[string]bool{}
		for name := range compute {
			known[name] = true
		}
		hint := didYouMean(unknown[0], known)
		if len(compute) > 0 {
			hint = "compute hosts: " + hostlist.Compress(v.computeHosts())
		}
		v.addf(KindReference, path, hint, "not among the hosts: %s", hostlist.Compress(unknown))
	}
	if len(idle) > 0 {
		v.addf(KindReference, path, "add the role, or take them out", "these hosts lack the role compute: %s", hostlist.Compress(idle))
	}
}

func (v *validator) partitionTimes(path string, p Partition) {
	longest, ok := v.slurmTime(path+".maxTime", p.MaxTime)
	usual, both := v.slurmTime(path+".defaultTime", p.DefaultTime)
	if ok && both && usual > longest {
		v.addf(KindConflict, path+".defaultTime", "", "%s is longer than maxTime, %s", p.DefaultTime, p.MaxTime)
	}
}
