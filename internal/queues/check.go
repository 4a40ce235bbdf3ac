package queues

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/problem"
)

// Limits of Kueue.
const (
	maxFlavors     = 64  // of a resource group
	maxLevels      = 16  // of a topology, the hosts included
	maxNodeTaints  = 8   // of a flavor
	maxObjectLabel = 63  // characters of a DNS label, and of a label's value
	maxPriority    = 1e9 // above it is Kubernetes' own
)

var (
	dnsLabel   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	labelValue = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$`)

	withinTeam = []string{"Never", "LowerPriority", "LowerOrNewerEqualPriority"}
	reclaim    = []string{"Never", "LowerPriority", "Any"}
)

func isLabel(name string) bool { return dnsLabel.MatchString(name) && len(name) <= maxObjectLabel }

// Check reports everything that is wrong with a cluster.
func Check(c Cluster) problem.List {
	c = c.withDefaults()
	r := &problem.Report{}
	checkWorkers(r, c)
	checkTeams(r, c)
	seen := map[string]string{}
	for i, p := range c.PriorityClasses {
		path := fmt.Sprintf("priorityClasses[%d]", i)
		checkName(r, path+".name", p.Name, seen)
		if p.Value > maxPriority || p.Value < -maxPriority {
			r.Add(path+".value", fmt.Sprintf("write %d to %d", int(-maxPriority), int(maxPriority)), "%d is out of range", p.Value)
		}
	}
	checkWord(r, "preemption.withinTeam", c.Preemption.WithinTeam, withinTeam)
	checkWord(r, "preemption.reclaim", c.Preemption.Reclaim, reclaim)
	if d, err := time.ParseDuration(c.ReadyTimeout); err != nil || d <= 0 {
		r.Add("readyTimeout", `write it as "10m"`, "%q is not a duration", c.ReadyTimeout)
	}
	return r.Problems
}

func checkWord(r *problem.Report, path, word string, words []string) {
	if !slices.Contains(words, word) {
		r.Add(path, "write "+strings.Join(words, ", "), "%q is none", word)
	}
}

// checkName wants a DNS label that nothing before has.
func checkName(r *problem.Report, path, name string, seen map[string]string) {
	if !isLabel(name) {
		r.Add(path, "lower-case letters, digits and inner hyphens, at most 63", "%q is not a DNS label", name)
		return
	}
	if earlier, taken := seen[name]; taken {
		r.Add(path, "", "%s is %s too", name, earlier)
		return
	}
	seen[name] = path
}

func checkWorkers(r *problem.Report, c Cluster) {
	if len(c.Workers) == 0 {
		r.Add("workers", "name at least one host", "is empty")
	}
	if n := len(c.gpus()); n > maxFlavors {
		r.Add("workers", "", "%d types of GPU, a queue of Kueue has at most %d flavours", n, maxFlavors)
	}
	if n := c.levels() + 1; n > maxLevels {
		r.Add("workers", "", "%d levels of topology, Kueue has at most %d", n, maxLevels)
	}
	fabric := slices.ContainsFunc(c.Workers, func(w Worker) bool { return len(w.Switches) > 0 })
	for i, w := range c.Workers {
		path := fmt.Sprintf("workers[%d]", i)
		if w.GPUType != "" && !isLabel(w.GPUType) || w.GPUType == NoGPU {
			r.Add(path+".gpuType", "lower-case letters, digits and inner hyphens, at most 63", "%q cannot name a type of GPU", w.GPUType)
		}
		if fabric && len(w.Switches) == 0 {
			r.Add(path+".switches", "say where it is in the fabric", "%s is under no switch, and other hosts are", w.Name)
		}
		for level, name := range w.Switches {
			if !labelValue.MatchString(name) || len(name) > maxObjectLabel {
				r.Add(fmt.Sprintf("%s.switches[%d]", path, level), "", "%q is not the value of a label", name)
			}
		}
	}
	for _, gpu := range c.gpus() {
		if taints := c.sharedTaints(gpu); len(taints) > maxNodeTaints {
			r.Add("workers", "", "the hosts with GPUs of type %s have %d taints in common, a flavour of Kueue has at most %d", gpu, len(taints), maxNodeTaints)
		}
	}
}

func checkTeams(r *problem.Report, c Cluster) {
	names, spaces := map[string]string{}, map[string]string{}
	for i, team := range c.Teams {
		path := fmt.Sprintf("teams[%d]", i)
		checkName(r, path+".name", team.Name, names)
		checkName(r, path+".namespace", team.Namespace, spaces)
		if strings.HasPrefix(team.Namespace, "kube-") || team.Namespace == ManagerNamespace || team.Namespace == "default" {
			r.Add(path+".namespace", "choose another namespace", "%s is the system's", team.Namespace)
		}
		if team.Cohort != "" && !isLabel(team.Cohort) {
			r.Add(path+".cohort", "", "%q is not a DNS label", team.Cohort)
		}
		if team.Weight < 1 {
			r.Add(path+".weight", "write at least 1", "%d is no share", team.Weight)
		}
		for _, ids := range []struct {
			path string
			ids  []int
		}{{path + ".uids", team.UIDs}, {path + ".gids", team.GIDs}} {
			for j, id := range ids.ids {
				if id < 1 {
					r.Add(fmt.Sprintf("%s[%d]", ids.path, j), "", "%d is root's or nobody's", id)
				}
			}
		}
		checkQuotas(r, c, i)
	}
}

func checkQuotas(r *problem.Report, c Cluster, i int) {
	team, seen := c.Teams[i], map[string]bool{}
	for j, q := range team.Quotas {
		path := quotaPath(i, j)
		if q.GPUType == NoGPU || !slices.Contains(c.gpus(), q.GPUType) {
			r.Add(path+".gpuType", "", "no worker has GPUs of type %q", q.GPUType)
		}
		if seen[q.GPUType] {
			r.Add(path+".gpuType", "", "%s has a quota already", q.GPUType)
		}
		seen[q.GPUType] = true
		if q.Nominal < 0 {
			r.Add(path+".nominal", "", "%d is negative", q.Nominal)
		}
		for _, limit := range []struct {
			path  string
			value *int
		}{{path + ".borrowing", q.Borrowing}, {path + ".lending", q.Lending}} {
			if limit.value == nil {
				continue
			}
			if team.Cohort == "" {
				r.Add(limit.path, "add a cohort", "team %s has nobody to lend to or to borrow from", team.Name)
			}
			if *limit.value < 0 {
				r.Add(limit.path, "", "%d is negative", *limit.value)
			}
		}
		if q.Lending != nil && *q.Lending > q.Nominal {
			r.Add(path+".lending", "", "%d is more than nominal, %d", *q.Lending, q.Nominal)
		}
	}
}
