package config

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

const maxUserName = 32

// systemNames are users and groups that a host with the cluster's packages has.
var systemNames = strings.Fields(`root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc
	gnats nobody nogroup _apt messagebus sshd slurm munge mysql adm tty disk dialout fax voice cdrom floppy tape sudo
	audio dip operator src shadow utmp video sasl plugdev staff users kmem render input sgx kvm crontab gluster
	systemd-network systemd-resolve systemd-timesync systemd-journal polkitd tss ntp _chrony lpadmin ssl-cert`)

// reservedNames mean something to Slurm itself.
var reservedNames = []string{"all", "default", "none", "unlimited", "infinite"}

func (v *validator) identity() {
	identity := v.env.Identity
	if identity == nil {
		return
	}
	groupIDs, userIDs := map[int]string{}, map[int]string{}
	seen := map[string]bool{}
	for i, group := range identity.Groups {
		path := strictyaml.Item("identity.groups", i)
		v.person(path+".name", "group", group.Name, identity.Source, seen)
		v.id(path+".gid", "gid", group.GID, group.Name, groupIDs)
	}
	seen = map[string]bool{}
	for i, user := range identity.Users {
		path := strictyaml.Item("identity.users", i)
		v.person(path+".name", "user", user.Name, identity.Source, seen)
		v.id(path+".uid", "uid", user.UID, user.Name, userIDs)
		if identity.Source == IdentityManaged {
			v.reference(path+".group", user.Group, "group", v.groups)
			v.references(path+".groups", user.Groups, "group", v.groups)
		}
		if slices.Contains(user.Groups, user.Group) {
			v.addf(KindDuplicate, path+".groups", "list only further groups", "%q is the primary group already", user.Group)
		}
		if user.Shell != "" {
			v.directory(path+".shell", user.Shell)
		}
		for n, key := range user.AuthorizedKeys {
			if _, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(key)); err != nil || len(rest) > 0 {
				v.add(KindInvalid, strictyaml.Item(path+".authorizedKeys", n), "paste one line of a .pub file", "not an SSH public key")
			}
		}
	}
}

func (v *validator) person(path, what, name string, source IdentitySource, seen map[string]bool) {
	switch {
	case name == "" || v.isBroken(path):
	case !userName.MatchString(name) || len(name) > maxUserName:
		v.addf(KindInvalid, path, fmt.Sprintf("lower-case letters, digits, \"_\" and \"-\", a letter first, at most %d", maxUserName),
			"%q is not a %s name", name, what)
	case slices.Contains(systemNames, name) && source == IdentityManaged:
		v.addf(KindCollision, path, "choose another name", "%s %q belongs to the system", what, name)
	case seen[name]:
		v.addf(KindDuplicate, path, "", "%s %q is listed twice", what, name)
	}
	seen[name] = true
}

func (v *validator) id(path, what string, id int, name string, holders map[int]string) {
	if id == 0 || v.isBroken(path) {
		return
	}
	if other, ok := holders[id]; ok && other != name {
		v.addf(KindDuplicate, path, "", "%s %d is that of both %s and %s", what, id, other, name)
		return
	}
	holders[id] = name
}

// names reports names that mean two things.
func (v *validator) names() {
	type meaning struct{ what, path string }
	taken := make(map[string]meaning, len(v.all))
	claim := func(name, what, path string) {
		if name == "" {
			return
		}
		key := strings.ToLower(name)
		if other, ok := taken[key]; ok && other.what != what {
			v.addf(KindCollision, path, "choose another name", "%q is also a %s (%s)", name, other.what, other.path)
			return
		}
		if _, ok := taken[key]; !ok {
			taken[key] = meaning{what, path}
		}
	}
	paths := make([]string, len(v.env.Hosts))
	for i := range paths {
		paths[i] = strictyaml.Item("hosts", i) + ".names"
	}
	for i := range v.all {
		name, path := v.all[i].Name, paths[v.all[i].Group]
		if v.env.Scheduler != SchedulerKubernetes && slices.Contains(reservedNames, name) {
			v.addf(KindCollision, path, "choose another name", "%q is reserved by Slurm", name)
		}
		claim(name, "host", path)
	}
	if v.env.Identity != nil {
		for i, user := range v.env.Identity.Users {
			claim(user.Name, "user", strictyaml.Item("identity.users", i)+".name")
		}
	}
	if v.env.Topology != nil {
		for i, s := range v.env.Topology.Switches {
			claim(s.Name, "switch", strictyaml.Item("topology.switches", i)+".name")
		}
	}
	if v.env.Slurm != nil {
		for i, partition := range v.env.Slurm.Partitions {
			claim(partition.Name, "partition", strictyaml.Item("slurm.partitions", i)+".name")
		}
	}
}
