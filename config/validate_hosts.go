package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

const (
	maxClusterName = 40
	maxLabel       = 63
)

var (
	dnsLabel  = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	slurmWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

// name checks the name of the environment.
func (v *validator) name() {
	if name := v.env.Name; name != "" && (!dnsLabel.MatchString(name) || len(name) > maxClusterName) {
		v.addf(KindInvalid, "name", fmt.Sprintf("lower-case letters, digits and inner hyphens, at most %d", maxClusterName),
			"%q cannot name an environment", name)
	}
}

// source checks where the hosts are from; required says that it must be told.
func (v *validator) source(required bool) {
	e := v.env
	switch {
	case e.Lab != nil && e.Inventory != nil:
		v.add(KindConflict, "inventory", "keep lab for containers on this machine, or inventory for hosts that exist",
			"both lab and inventory are given")
	case required && e.Lab == nil && e.Inventory == nil && !v.isBroken("lab") && !v.isBroken("inventory"):
		v.add(KindMissing, "", "write lab: {} for containers on this machine, or inventory: for hosts that exist",
			"neither lab nor inventory is given")
	}
}

// nameOfFile checks that the environment has the name by which its file calls
// it. The file's name is the stack's, and the environment's name is that of its
// resources and of a lab's containers: a copied file that kept the old name
// would take over what belongs to the first stack.
func (v *validator) nameOfFile(file string) {
	stack, named := StackOf(file)
	name := v.env.Name
	if !named || name == "" || name == stack || v.isBroken("name") {
		return
	}
	hint := fmt.Sprintf("call the file Pulumi.%s.yaml", name)
	if dnsLabel.MatchString(stack) && len(stack) <= maxClusterName {
		hint = fmt.Sprintf("write name: %s, or %s", stack, hint)
	}
	v.addf(KindConflict, "name", hint, "%q is not the name of the file", name)
}

// hostGroups checks names, profiles and that no host is there twice.
func (v *validator) hostGroups() {
	first := map[string]string{}
	used := map[string]bool{}
	for i, group := range v.env.Hosts {
		path := strictyaml.Item("hosts", i)
		names := v.expand(path+".names", group.Names)
		v.hostNames(path+".names", names)
		v.repeated(path+".names", names, first)
		v.resourceNames(path+".names", names)
		profiles := map[string]bool{}
		for name := range v.env.Profiles {
			profiles[name] = true
		}
		if !v.isBroken("profiles") || v.env.Profiles != nil {
			v.reference(path+".profile", group.Profile, "profile", profiles)
		}
		used[group.Profile] = true
		v.featureNames(path+".features", group.Features)
		for n, role := range group.Roles {
			if slices.Index(group.Roles, role) < n {
				v.addf(KindDuplicate, strictyaml.Item(path+".roles", n), "", "role %q is listed twice", role)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.env.Profiles)) {
		if !used[name] && !v.isBroken("hosts") {
			v.addf(KindWarning, strictyaml.Child("profiles", name), "", "no host has profile %q", name)
		}
	}
}

// repeated reports hosts that an earlier group names already.
func (v *validator) repeated(path string, names []string, first map[string]string) {
	var twice []string
	where := ""
	for _, name := range names {
		if at, ok := first[name]; ok && at != path {
			if where == "" {
				where = at
			}
			twice = append(twice, name)
			continue
		}
		first[name] = path
	}
	if len(twice) > 0 {
		v.addf(KindDuplicate, path, "list each host once, with all its roles", "%s: already in %s", hostlist.Compress(twice), where)
	}
}

// partNames are what the parts of an environment besides its hosts are called,
// and partSuffixes what a host's parts end in: a host called so would share the
// name of a resource with one of them.
var (
	partNames = []string{
		"accounting", "artifacts", "controller", "database", "gate", "guard", "image", "key", "keys", "kubeconfig", "network", "smoke",
	}
	partSuffixes = []string{"-baseline", "-control-plane", "-home", "-host", "-login"}
)

// resourceNames checks that no host takes the name of another resource.
func (v *validator) resourceNames(path string, names []string) {
	var taken []string
	for _, name := range names {
		if slices.Contains(partNames, name) ||
			slices.ContainsFunc(partSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) }) {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		v.addf(KindCollision, path, "choose another name, for example with a number: "+taken[0]+"1",
			"reserved for a part of the environment: %s", some(taken))
	}
}

// hostNames checks that names are good for DNS, Slurm and the kernel.
func (v *validator) hostNames(path string, names []string) {
	var bad []string
	for _, name := range names {
		if !dnsLabel.MatchString(name) || len(name) > maxLabel || strings.EqualFold(name, "localhost") {
			bad = append(bad, name)
		}
	}
	if len(bad) > 0 {
		v.addf(KindInvalid, path, fmt.Sprintf("lower-case letters, digits and inner hyphens, at most %d, and not localhost", maxLabel),
			"not a host name: %s", some(bad))
	}
}

// some lists the first few of many names.
func some(names []string) string {
	const few = 4
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

func (v *validator) featureNames(path string, features []string) {
	for i, feature := range features {
		item := strictyaml.Item(path, i)
		if !slurmWord.MatchString(feature) {
			v.addf(KindInvalid, item, "letters, digits, \"_\", \".\" and \"-\"", "%q cannot be a feature", feature)
		} else if slices.Index(features, feature) < i {
			v.addf(KindDuplicate, item, "", "feature %q is listed twice", feature)
		}
	}
}

// storage checks that the shared home has the host that it needs.
func (v *validator) storage() {
	if v.isBroken("hosts") || len(v.env.Hosts) == 0 || v.unreadable() {
		return
	}
	count := v.byRole
	if count[RoleStorage] > 1 {
		v.addf(KindConflict, "hosts", "keep it on one host", "%d hosts have the role storage", count[RoleStorage])
	}
	gluster := v.env.Home != nil && v.env.Home.Kind == HomeGlusterFS
	switch {
	case gluster && count[RoleStorage] == 0:
		v.add(KindMissing, "home.kind", "give one host the role storage", "glusterfs needs a storage host")
	case !gluster && count[RoleStorage] > 0 && !v.isBroken("home"):
		v.add(KindWarning, "hosts", "", "the role storage does nothing without home.kind: glusterfs")
	}
}

// unreadable tells whether some group's hosts are not known.
func (v *validator) unreadable() bool {
	return slices.ContainsFunc(v.env.Hosts, func(g HostGroup) bool {
		_, err := hostlist.Expand(g.Names)
		return err != nil
	})
}
