package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// maxFlavors is how many flavours a resource group of Kueue can have; each type
// of GPU is one.
const maxFlavors = 64

// systemNamespaces belong to what a cluster runs itself.
var systemNamespaces = strings.Fields(`default kueue-system volcano-system jobset-system lws-system gpu-operator
	nvidia-network-operator nvidia-dra-driver node-feature-discovery cert-manager monitoring topograph slinky`)

// teams checks the tenants: their names, their people and their quotas.
func (v *validator) teams(k *Kubernetes) {
	names, owners := map[string]bool{}, map[string]string{}
	cohorts := map[string][]int{}
	for i, team := range k.Teams {
		path := strictyaml.Item("kubernetes.teams", i)
		v.dnsName(path+".name", "team", team.Name, names)
		v.namespace(path, team, owners)
		v.teamMembers(path, team)
		if team.Cohort != "" {
			v.dnsName(path+".cohort", "cohort", team.Cohort, map[string]bool{})
			cohorts[team.Cohort] = append(cohorts[team.Cohort], i)
		}
	}
	if v.isBroken("kubernetes.teams") {
		v.waiting = true
		return
	}
	v.quotas(k)
	for _, name := range slices.Sorted(maps.Keys(cohorts)) {
		if of := cohorts[name]; len(of) == 1 && k.Queueing != QueueingNone {
			v.addf(KindWarning, strictyaml.Item("kubernetes.teams", of[0])+".cohort", "", "no other team is in cohort %q: there is nobody to borrow from", name)
		}
	}
	v.teamless(k)
}

// namespace checks that a team's namespace is its own.
func (v *validator) namespace(path string, team Team, owners map[string]string) {
	at, name := path+".namespace", team.Namespace
	if name == team.Name && (v.given == nil || !v.given(at)) {
		at = path + ".name"
	}
	other, taken := owners[name]
	switch {
	case name == "" || v.isBroken(at):
		return
	case slices.Contains(systemNamespaces, name) || strings.HasPrefix(name, "kube-"):
		v.addf(KindCollision, at, "choose another namespace", "namespace %q is the system's", name)
	case at == path+".namespace" && (!dnsLabel.MatchString(name) || len(name) > maxLabel):
		v.addf(KindInvalid, at, fmt.Sprintf("lower-case letters, digits and inner hyphens, at most %d", maxLabel), "%q cannot name a namespace", name)
	case taken && other != team.Name:
		v.addf(KindDuplicate, at, "give each team its own", "namespace %q is that of team %s", name, other)
	}
	if !taken {
		owners[name] = team.Name
	}
}

// teamMembers checks that the members are people whose ids are known.
func (v *validator) teamMembers(path string, team Team) {
	if v.env.Identity == nil && !v.isBroken("identity") {
		if len(team.Users) > 0 {
			v.addf(KindReference, path+".users", "list them under identity.users", "the users of team %s do not exist", team.Name)
		}
		if len(team.Groups) > 0 {
			v.addf(KindReference, path+".groups", "list them under identity.groups", "the groups of team %s do not exist", team.Name)
		}
		return
	}
	if !v.isBroken("identity") {
		v.references(path+".users", team.Users, "user", v.users)
		v.references(path+".groups", team.Groups, "group", v.groups)
	}
	if len(team.Users)+len(team.Groups) == 0 && team.Name != "" && !v.isBroken(path+".users") && !v.isBroken(path+".groups") {
		v.addf(KindWarning, path+".name", "list users or groups", "nobody is in team %s", team.Name)
	}
}

// quotas checks that the teams have no more than there is.
func (v *validator) quotas(k *Kubernetes) {
	estate, given := v.workerGPUs(), map[string]int{}
	types := map[string]bool{}
	for name := range estate {
		types[name] = true
	}
	known := !v.isBroken("hosts") && !v.isBroken("profiles") && !v.unreadable() && v.byRole[RoleWorker] > 0
	for i, team := range k.Teams {
		path := strictyaml.Item("kubernetes.teams", i) + ".gpus"
		if k.Queueing == QueueingKueue && len(team.GPUs) > maxFlavors {
			v.addf(KindInvalid, path, "", "%d types of GPU, a queue of Kueue has at most %d", len(team.GPUs), maxFlavors)
		}
		for _, kind := range slices.Sorted(maps.Keys(team.GPUs)) {
			at, quota := strictyaml.Child(path, kind), team.GPUs[kind]
			v.quota(at, team, quota)
			if !known {
				continue
			}
			if !types[kind] {
				from := len(v.problems)
				v.addf(KindReference, at, didYouMean(kind, types), "no worker has GPUs of type %q", kind)
				v.atKey(from)
				continue
			}
			before := given[kind]
			given[kind] += max(quota.Nominal, 0)
			if before <= estate[kind] && given[kind] > estate[kind] {
				v.addf(KindConflict, at, fmt.Sprintf("%d are left for this team; what others do not use can be lent, in a cohort", estate[kind]-before),
					"the teams up to this one have %d GPUs of type %s, the workers have %d", given[kind], kind, estate[kind])
			}
		}
	}
}

// quota checks one entry of a team.
func (v *validator) quota(path string, team Team, quota GPUQuota) {
	if team.Cohort == "" {
		const hint = "add a cohort, the same for teams that lend each other"
		if quota.BorrowingLimit != nil && !v.isBroken(path+".borrowingLimit") {
			v.addf(KindConflict, path+".borrowingLimit", hint, "team %s has no cohort to borrow from", team.Name)
		}
		if quota.LendingLimit != nil && !v.isBroken(path+".lendingLimit") {
			v.addf(KindConflict, path+".lendingLimit", hint, "team %s has no cohort to lend to", team.Name)
		}
		if quota.Nominal == 0 && !v.isBroken(path) {
			v.addf(KindWarning, path, "set nominal, or a cohort to borrow from", "team %s gets none", team.Name)
		}
		return
	}
	if lent := valueOr(quota.LendingLimit, 0); lent > quota.Nominal && !v.isBroken(path) {
		v.addf(KindConflict, path+".lendingLimit", "", "%d is more than nominal, %d", lent, quota.Nominal)
	}
}

// teamless warns of people whom no team knows.
func (v *validator) teamless(k *Kubernetes) {
	if v.env.Identity == nil || len(k.Teams) == 0 || v.isBroken("identity") || v.isBroken("kubernetes.teams") {
		return
	}
	for i, user := range v.env.Identity.Users {
		if user.Name != "" && !slices.ContainsFunc(k.Teams, func(team Team) bool { return team.has(user) }) {
			v.addf(KindWarning, strictyaml.Item("identity.users", i)+".name", "add the user, or a group of theirs, to a team", "user %s is in no team", user.Name)
		}
	}
}

// has tells whether a user is in the team, by name or by a group.
func (t Team) has(user User) bool {
	return slices.Contains(t.Users, user.Name) || slices.Contains(t.Groups, user.Group) ||
		slices.ContainsFunc(user.Groups, func(group string) bool { return slices.Contains(t.Groups, group) })
}
