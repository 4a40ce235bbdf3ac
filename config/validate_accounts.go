package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

var accountName = regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]*$`)

// entity checks the name of an account or a quality of service.
func (v *validator) entity(path, what, name string, seen map[string]bool) {
	switch {
	case name == "" || v.isBroken(path):
		return
	case strings.ToLower(name) != name && accountName.MatchString(strings.ToLower(name)):
		v.addf(KindInvalid, path, fmt.Sprintf("write %q", strings.ToLower(name)), "Slurm folds %q to lower case", name)
	case !accountName.MatchString(name):
		v.addf(KindInvalid, path, "lower-case letters, digits, \"_\", \".\" and \"-\"", "%q cannot name a %s", name, what)
	case slices.Contains(reservedNames, name):
		v.addf(KindCollision, path, "choose another name", "%q is reserved by Slurm", name)
	case seen[name]:
		v.addf(KindDuplicate, path, "", "%s %q is listed twice", what, name)
	}
	seen[name] = true
}

func (v *validator) accountTree(s *Slurm) {
	index := map[string]int{}
	for i, account := range s.Accounts {
		if _, ok := index[account.Name]; !ok && account.Name != rootAccount {
			index[account.Name] = i
		}
	}
	seen := map[string]bool{}
	for i, account := range s.Accounts {
		path := strictyaml.Item("slurm.accounts", i)
		if account.Name == rootAccount {
			v.add(KindCollision, path+".name", "choose another name", "account \"root\" is Slurm's own")
		}
		v.entity(path+".name", "account", account.Name, seen)
		v.reference(path+".parent", account.Parent, "account", v.accounts)
		if loop := s.accountLoop(i, index); loop != "" {
			v.addf(KindConflict, path+".parent", "make one of them a child of root", "accounts are each other's parents: %s", loop)
		} else if p, ok := index[account.Parent]; ok && p > i {
			v.addf(KindInvalid, path+".parent", "move the parent up", "parent %q comes after its child", account.Parent)
		}
		v.references(path+".qos", account.QOS, "qos", v.qos)
		v.defaultQOS(path, account.DefaultQOS, s.accountQOS(account.Name, index))
		v.oneLine(path+".description", account.Description)
		v.oneLine(path+".organization", account.Organization)
		v.limits(path+".limits", account.Limits)
	}
}

// accountLoop describes the loop that begins and ends at an account, if its
// parents form one.
func (s *Slurm) accountLoop(start int, index map[string]int) string {
	names := []string{s.Accounts[start].Name}
	at := start
	for range s.Accounts {
		next, ok := index[s.Accounts[at].Parent]
		if !ok {
			return ""
		}
		names = append(names, s.Accounts[next].Name)
		if next == start {
			return strings.Join(names, " < ")
		}
		at = next
	}
	return ""
}

// accountQOS is what members of an account may use: its own list, or else that
// of the nearest parent with one.
func (s *Slurm) accountQOS(name string, index map[string]int) []string {
	for range s.Accounts {
		i, ok := index[name]
		if !ok {
			break
		}
		if account := s.Accounts[i]; len(account.QOS) > 0 {
			return account.QOS
		}
		name = s.Accounts[i].Parent
	}
	return []string{normalQOS}
}

func (v *validator) defaultQOS(path, name string, allowed []string) {
	at := path + ".defaultQos"
	if name == "" || v.isBroken(path) {
		return
	}
	if !v.qos[name] {
		v.reference(at, name, "qos", v.qos)
	} else if !slices.Contains(allowed, name) {
		v.addf(KindConflict, at, "add it to qos", "%q is not among the qos allowed here: %s", name, strings.Join(allowed, ", "))
	}
}

// oneLine checks a text that is handed to sacctmgr.
func (v *validator) oneLine(path, text string) {
	if strings.ContainsAny(text, "\n\r\"'`\\|,=") {
		v.add(KindInvalid, path, "plain words on one line", "has a line break, a quote or one of \\ | , =")
	}
}

func (v *validator) associations(s *Slurm) {
	index := map[string]int{}
	for i, account := range s.Accounts {
		index[account.Name] = i
	}
	type pair struct{ user, account string }
	seen := map[pair]bool{}
	byUser := map[string][]int{}
	known := v.env.Identity != nil || v.isBroken("identity")
	for i, a := range s.Associations {
		path := strictyaml.Item("slurm.associations", i)
		v.associationUser(path+".user", a.User, known)
		v.reference(path+".account", a.Account, "account", v.accounts)
		if key := (pair{a.User, a.Account}); seen[key] {
			v.addf(KindDuplicate, path, "", "%s may charge %s already", a.User, a.Account)
		} else {
			seen[key] = true
			byUser[a.User] = append(byUser[a.User], i)
		}
		v.references(path+".qos", a.QOS, "qos", v.qos)
		allowed := a.QOS
		if len(allowed) == 0 {
			allowed = s.accountQOS(a.Account, index)
		}
		v.defaultQOS(path, a.DefaultQOS, allowed)
		v.limits(path+".limits", a.Limits)
	}
	for _, user := range slices.Sorted(maps.Keys(byUser)) {
		v.defaultAccount(s, byUser[user])
	}
	v.strangers(s, byUser)
}

func (v *validator) associationUser(path, name string, known bool) {
	if strings.ToLower(name) != name {
		v.addf(KindInvalid, path, fmt.Sprintf("write %q", strings.ToLower(name)), "Slurm folds %q to lower case", name)
		return
	}
	if known && !v.isBroken("identity") {
		v.reference(path, name, "user", v.users)
	} else if !known && name != "" {
		v.addf(KindReference, path, "list the user under identity.users", "user %q does not exist", name)
	}
}

// defaultAccount checks that a user with several accounts has one default.
func (v *validator) defaultAccount(s *Slurm, of []int) {
	var defaults []int
	for _, i := range of {
		if s.Associations[i].Default {
			defaults = append(defaults, i)
		}
	}
	path := strictyaml.Item("slurm.associations", of[0])
	user := s.Associations[of[0]].User
	switch {
	case user == "":
	case len(defaults) == 0:
		v.addf(KindMissing, path, "set default: true on one of them", "user %s has %d accounts and no default", user, len(of))
	case len(defaults) > 1:
		v.addf(KindConflict, strictyaml.Item("slurm.associations", defaults[1])+".default", "keep one",
			"user %s has %d default accounts", user, len(defaults))
	}
}

// strangers warns of users that no account knows.
func (v *validator) strangers(s *Slurm, byUser map[string][]int) {
	if v.env.Identity == nil || len(s.Associations) == 0 || v.isBroken("slurm.associations") {
		return
	}
	for i, user := range v.env.Identity.Users {
		if byUser[user.Name] == nil && user.Name != "" {
			v.addf(KindWarning, strictyaml.Item("identity.users", i)+".name", "add an association if the user runs jobs",
				"user %s has no account: Slurm refuses their jobs", user.Name)
		}
	}
}
