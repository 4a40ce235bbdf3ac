package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// scheduler checks that the scheduler is one that can be built, and that its
// section is there and no other's.
func (v *validator) scheduler() {
	switch e := v.env; e.Scheduler {
	case SchedulerHybrid:
		v.addf(KindUnavailable, "scheduler", "write slurm or kubernetes", "scheduler %q is not available in this release", e.Scheduler)
	case SchedulerSlurm:
		v.section(e.Slurm != nil, "slurm", "add a slurm section with version and partitions")
		v.otherSection(e.Kubernetes != nil, "kubernetes")
		v.otherSection(e.Artifacts != nil, "artifacts")
	case SchedulerKubernetes:
		v.section(e.Kubernetes != nil, "kubernetes", "add a kubernetes section with a version")
		v.otherSection(e.Slurm != nil, "slurm")
	}
}

func (v *validator) section(given bool, name, hint string) {
	if !given && !v.isBroken(name) {
		v.addf(KindMissing, name, hint, "scheduler is %s, but %q is missing", v.env.Scheduler, name)
	}
}

// otherSection reports a section that nothing would read.
func (v *validator) otherSection(given bool, name string) {
	if !given {
		return
	}
	other := map[Scheduler]Scheduler{SchedulerSlurm: SchedulerKubernetes, SchedulerKubernetes: SchedulerSlurm}[v.env.Scheduler]
	v.addf(KindConflict, name, fmt.Sprintf("remove it, or write scheduler: %s", other), "does nothing with scheduler %s", v.env.Scheduler)
}

// rolesOf are the roles that belong to one scheduler, and counterparts the
// role that does for the other what a role does for its own.
var (
	rolesOf = map[Scheduler][]Role{
		SchedulerSlurm:      {RoleController, RoleDatabase, RoleLogin, RoleCompute},
		SchedulerKubernetes: {RoleControlPlane, RoleWorker},
	}
	counterparts = map[Role]Role{
		RoleController: RoleControlPlane, RoleCompute: RoleWorker,
		RoleControlPlane: RoleController, RoleWorker: RoleCompute,
	}
)

// roles checks that the parts of a cluster are all played, by roles of its
// scheduler.
func (v *validator) roles() {
	if v.isBroken("hosts") || len(v.env.Hosts) == 0 || v.unreadable() || v.env.Scheduler == SchedulerHybrid {
		return
	}
	if v.foreignRoles() {
		v.waiting = true
		return
	}
	if v.env.Scheduler == SchedulerKubernetes {
		v.kubernetesRoles()
		return
	}
	count := v.byRole
	if count[RoleController] == 0 {
		v.add(KindMissing, "hosts", "give a host roles: [controller]", "no host has the role controller")
	}
	if count[RoleCompute] == 0 {
		v.add(KindMissing, "hosts", "give hosts roles: [compute]", "no host has the role compute")
	}
	if count[RoleDatabase] > 1 {
		v.addf(KindConflict, "hosts", "keep it on one host", "%d hosts have the role database", count[RoleDatabase])
	}
}

// foreignRoles reports roles that belong to another scheduler.
func (v *validator) foreignRoles() (found bool) {
	own := rolesOf[v.env.Scheduler]
	if own == nil {
		return false
	}
	for i, group := range v.env.Hosts {
		for n, role := range group.Roles {
			if role == RoleStorage || slices.Contains(own, role) {
				continue
			}
			found = true
			hint := fmt.Sprintf("%s has the roles %s", v.env.Scheduler, wordList(append(slices.Clone(own), RoleStorage)))
			if like := counterparts[role]; like != "" {
				hint = fmt.Sprintf("write %s; %s", like, hint)
			}
			v.addf(KindConflict, strictyaml.Item(strictyaml.Item("hosts", i)+".roles", n), hint,
				"the role %s is not one of scheduler %s", role, v.env.Scheduler)
		}
	}
	return found
}

// wordList is "a, b and c".
func wordList[T ~string](words []T) string {
	var texts []string
	for _, word := range words {
		texts = append(texts, string(word))
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:len(texts)-1], ", ") + " and " + texts[len(texts)-1]
}

// kubernetesRoles checks that etcd can have a majority, and that pods have
// somewhere to run which is not where it runs.
func (v *validator) kubernetesRoles() {
	planes, workers := v.byRole[RoleControlPlane], v.byRole[RoleWorker]
	switch {
	case planes == 0:
		v.add(KindMissing, "hosts", "give one host or three roles: [control-plane]", "no host has the role control-plane")
	case planes%2 == 0:
		v.addf(KindInvalid, "hosts", fmt.Sprintf("give it to %d or %d", planes-1, planes+1),
			"%d hosts have the role control-plane: an even number survives no more losses than one less", planes)
	}
	if workers == 0 {
		v.add(KindMissing, "hosts", "give hosts roles: [worker]", "no host has the role worker")
	}
	for i, group := range v.env.Hosts {
		path := strictyaml.Item("hosts", i)
		if !slices.Contains(group.Roles, RoleControlPlane) {
			continue
		}
		if slices.Contains(group.Roles, RoleWorker) {
			v.add(KindConflict, path+".roles", "keep one of them", "a control plane is no worker: pods could take what etcd needs")
		} else if len(v.env.Profiles[group.Profile].GPUs) > 0 {
			v.addf(KindWarning, path+".profile", "", "the GPUs of a control plane are nobody's")
		}
	}
}

// groupSettings checks that host groups say nothing that their scheduler does not
// read, and what they say for Kubernetes.
func (v *validator) groupSettings() {
	for i, group := range v.env.Hosts {
		path := strictyaml.Item("hosts", i)
		switch v.env.Scheduler {
		case SchedulerSlurm:
			v.unread(path+".labels", len(group.Labels) > 0, "write features")
			v.unread(path+".taints", len(group.Taints) > 0, "remove it")
		case SchedulerKubernetes:
			v.unread(path+".features", len(group.Features) > 0, "write labels")
			v.unread(path+".weight", group.Weight > defaultNodeWeight, "remove it")
			v.labels(path+".labels", group.Labels)
			v.taints(path+".taints", group.Taints)
		}
	}
}

// unread reports a setting of hosts that nothing reads.
func (v *validator) unread(path string, given bool, hint string) {
	if given && !v.isBroken(path) {
		v.addf(KindConflict, path, hint, "does nothing with scheduler %s", v.env.Scheduler)
	}
}
