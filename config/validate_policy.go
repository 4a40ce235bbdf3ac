package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// qosFlags are the flags of a quality of service, and the release line that
// brought those which not every one has.
var qosFlags = map[string]slurmconf.Version{
	"DenyOnLimit": {}, "EnforceUsageThreshold": {}, "NoDecay": {}, "NoReserve": {}, "OverPartQOS": {},
	"PartitionMaxNodes": {}, "PartitionMinNodes": {}, "PartitionTimeLimit": {}, "RequiresReservation": {},
	"UsageFactorSafe": {}, "Relative": slurmconf.V2311,
}

func (v *validator) qualities(s *Slurm) {
	seen := map[string]bool{}
	preempts := map[string][]string{}
	for _, q := range s.QOS {
		preempts[q.Name] = q.Preempts
	}
	for i, q := range s.QOS {
		path := strictyaml.Item("slurm.qos", i)
		v.entity(path+".name", "qos", q.Name, seen)
		v.oneLine(path+".description", q.Description)
		v.references(path+".preempts", q.Preempts, "qos", v.qos)
		v.qosPreemption(path, q, s.Preemption, preempts)
		tres(v, path+".maxTRESPerUser", q.MaxTRESPerUser)
		v.qosFlags(path+".flags", q.Flags, s.Version)
		v.limits(path+".limits", q.Limits)
	}
}

func (v *validator) qosPreemption(path string, q QOS, p *Preemption, preempts map[string][]string) {
	if loop := preemptLoop(q.Name, preempts); loop != "" {
		v.addf(KindConflict, path+".preempts", "let the higher one displace the lower", "qos displace each other: %s", loop)
	}
	if len(q.Preempts) > 0 && !v.isBroken("slurm.preemption") {
		switch {
		case p == nil:
			v.add(KindConflict, path+".preempts", "add slurm.preemption with by: qos and a mode", "nothing is displaced without slurm.preemption")
		case p.By == "partition":
			v.add(KindConflict, path+".preempts", "write by: qos in slurm.preemption", "preemption goes by partition, so this does nothing")
		}
	}
	if q.PreemptMode == "suspend" && (p == nil || p.Mode != "suspend") && !v.isBroken("slurm.preemption") {
		v.add(KindConflict, path+".preemptMode", "write mode: suspend in slurm.preemption", "jobs can be suspended only where the cluster's mode is suspend")
	}
}

// preemptLoop follows preempts from a name back to itself.
func preemptLoop(start string, preempts map[string][]string) string {
	visited := map[string]bool{}
	var follow func(name string, trail []string) string
	follow = func(name string, trail []string) string {
		for _, next := range preempts[name] {
			if next == start {
				return strings.Join(append(trail, next), " > ")
			}
			if !visited[next] {
				visited[next] = true
				if loop := follow(next, append(trail, next)); loop != "" {
					return loop
				}
			}
		}
		return ""
	}
	return follow(start, []string{start})
}

func (v *validator) qosFlags(path string, flags []string, version string) {
	release, err := slurmconf.ParseVersion(version)
	for i, flag := range flags {
		at := strictyaml.Item(path, i)
		since, ok := qosFlags[flag]
		switch {
		case !ok:
			hint := "one of " + strings.Join(slices.Sorted(maps.Keys(qosFlags)), ", ")
			if meant := suggest.Closest(flag, slices.Sorted(maps.Keys(qosFlags))); meant != "" {
				hint = fmt.Sprintf("did you mean %q?", meant)
			}
			v.addf(KindInvalid, at, hint, "%q is not a flag of a qos", flag)
		case err == nil && !release.AtLeast(since):
			v.addf(KindUnavailable, at, "", "flag %s needs Slurm %s", flag, since)
		case slices.Index(flags, flag) < i:
			v.addf(KindDuplicate, at, "", "flag %s is listed twice", flag)
		}
	}
}

func (v *validator) priority(s *Slurm) {
	if s.Priority == nil {
		return
	}
	v.slurmTime("slurm.priority.decayHalfLife", s.Priority.DecayHalfLife)
	v.slurmTime("slurm.priority.maxAge", s.Priority.MaxAge)
	v.slurmTime("slurm.priority.calcPeriod", s.Priority.CalcPeriod)
	tres(v, "slurm.priority.weights.tres", s.Priority.Weights.TRES)
}

func (v *validator) preemption(s *Slurm) {
	p := s.Preemption
	if p == nil {
		return
	}
	v.slurmTime("slurm.preemption.exemptTime", p.ExemptTime)
	switch {
	case p.By == "qos" && !v.isBroken("slurm.qos") &&
		!slices.ContainsFunc(s.QOS, func(q QOS) bool { return len(q.Preempts) > 0 }):
		v.add(KindWarning, "slurm.preemption.by", "list the qos to displace in preempts of another", "no qos displaces another")
	case p.By == "partition" && len(s.Partitions) > 0 && !v.isBroken("slurm.partitions") &&
		!slices.ContainsFunc(s.Partitions, func(q Partition) bool { return q.PriorityTier != s.Partitions[0].PriorityTier }):
		v.add(KindWarning, "slurm.preemption.by", "give the partition that may displace others a higher priorityTier",
			"all partitions have the same priorityTier: none displaces another")
	}
}

// topology checks the tree against the hosts that run jobs.
func (v *validator) topology() {
	t := v.env.Topology
	if t == nil {
		return
	}
	readable := true
	var switches []topology.Switch
	for i, s := range t.Switches {
		path := strictyaml.Item("topology.switches", i)
		hosts, below := v.expand(path+".hosts", s.Hosts), v.expand(path+".switches", s.Switches)
		readable = readable && (s.Hosts == "" || hosts != nil) && (s.Switches == "" || below != nil)
		if s.Hosts == "" && s.Switches == "" && !v.isBroken(path) {
			v.add(KindMissing, path, "give a leaf hosts, and any other switch the switches below it", "a switch with nothing below it")
			readable = false
		}
		switches = append(switches, topology.Switch{Name: s.Name, Nodes: hosts, Switches: below})
	}
	if !readable || v.isBroken("topology") || v.isBroken("hosts") || v.unreadable() {
		return
	}
	fields := map[string]string{"name": ".name", "nodes": ".hosts", "switches": ".switches"}
	for _, p := range topology.Check(switches, v.computeHosts()) {
		path, kind := "topology.switches", KindInvalid
		if p.Switch >= 0 {
			path = strictyaml.Item(path, p.Switch) + fields[p.Field]
		}
		if p.Severity == topology.Advice {
			kind = KindWarning
		}
		hint := p.Hint
		if v.env.Scheduler == SchedulerKubernetes {
			hint = ofKubernetes.Replace(hint)
		}
		v.add(kind, path, hint, p.What)
	}
}

// ofKubernetes puts what is said of a fabric in Slurm's words into Kubernetes'.
var ofKubernetes = strings.NewReplacer("compute hosts of this cluster", "workers", "to Slurm", "to a scheduler")
