package config

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

func (v *validator) lab() {
	if v.env.Lab == nil || v.env.Lab.Subnet == "" {
		return
	}
	subnet := v.env.Lab.Subnet
	prefix, err := netip.ParsePrefix(subnet)
	switch {
	case err != nil || !prefix.Addr().Is4():
		v.addf(KindInvalid, "lab.subnet", "write it as 10.213.7.0/24", "%q is not an IPv4 network", subnet)
	case prefix.Masked() != prefix:
		v.addf(KindInvalid, "lab.subnet", fmt.Sprintf("write %s", prefix.Masked()), "%s has host bits set", subnet)
	case !prefix.Addr().IsPrivate():
		v.add(KindInvalid, "lab.subnet", "take one within 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16", subnet+" is not a private network")
	default:
		// The network's own address, its broadcast, gateway and resolver.
		if room := 1<<(32-prefix.Bits()) - 4; room < len(v.hosts) {
			v.addf(KindInvalid, "lab.subnet", "take a larger network, for example a /23", "%s has room for %d hosts, the environment has %d", subnet, max(room, 0), len(v.hosts))
		}
	}
}

// inventory checks how hosts that exist are reached. Required says that the
// toolkit reaches them so, and needs a key of each.
func (v *validator) inventory(required bool) {
	inventory := v.env.Inventory
	if inventory == nil {
		return
	}
	v.addresses(inventory.Addresses)
	v.ssh(inventory, required)
}

func (v *validator) addresses(entries map[string]string) {
	named := map[string]string{}  // host to the entry that names it
	holder := map[string]string{} // address to the host that has it
	for _, expression := range slices.Sorted(maps.Keys(entries)) {
		at := strictyaml.Child("inventory.addresses", expression)
		from := len(v.problems)
		names := v.expand(at, expression)
		v.atKey(from)
		addresses := v.addressList(at, entries[expression])
		if names == nil || addresses == nil {
			continue
		}
		if len(names) != len(addresses) {
			v.addf(KindInvalid, at, "", "%d names, but %d addresses", len(names), len(addresses))
			continue
		}
		var unknown []string
		for i, name := range names {
			if _, ok := v.hosts[name]; !ok {
				unknown = append(unknown, name)
			}
			if _, ok := named[name]; ok {
				v.addf(KindDuplicate, at, "", "host %q has another address already", name)
			} else if other, ok := holder[addresses[i]]; ok {
				v.addf(KindDuplicate, at, "", "address %s is given to both %s and %s", addresses[i], other, name)
			}
			named[name], holder[addresses[i]] = expression, name
		}
		if len(unknown) > 0 && !v.isBroken("hosts") && !v.unreadable() {
			v.addf(KindReference, at, "", "not among the hosts: %s", hostlist.Compress(unknown))
		}
	}
}

// addressList reads the addresses that belong to an entry's names.
func (v *validator) addressList(at, expression string) []string {
	if expression == "" || v.isBroken(at) {
		return nil
	}
	addresses, err := hostlist.Expand(expression)
	if err != nil {
		v.problems = append(v.problems, hostlistProblem(at, err))
		return nil
	}
	for _, address := range addresses {
		if looksNumeric(address) {
			if _, err := netip.ParseAddr(address); err != nil {
				v.addf(KindInvalid, at, "", "%q is not an IPv4 address", address)
				return nil
			}
		}
	}
	return addresses
}

func looksNumeric(address string) bool { return strings.Trim(address, "0123456789.") == "" }

var (
	bastionForm = regexp.MustCompile(`^([a-z_][a-z0-9_.-]*@)?[A-Za-z0-9.-]+(:[0-9]{1,5})?$`)
	userName    = regexp.MustCompile(`^[a-z_][a-z0-9_-]*$`)
)

func (v *validator) ssh(inventory *Inventory, required bool) {
	s := inventory.SSH
	if s.User != "" && !userName.MatchString(s.User) {
		v.addf(KindInvalid, "inventory.ssh.user", "", "%q is not a user name", s.User)
	}
	if s.Bastion != "" && !bastionForm.MatchString(s.Bastion) {
		v.addf(KindInvalid, "inventory.ssh.bastion", "write it as user@host:port; user and port may be left out",
			"%q is not a place to jump through", s.Bastion)
	}
	patterns, sure := v.hostKeys(s.HostKeys)
	if !required || s.TrustOnFirstUse || !sure || v.isBroken("inventory") {
		return
	}
	var open []string
	for _, host := range v.all {
		if !anyMatches(patterns, host.Name) && (host.Address == "" || !anyMatches(patterns, host.Address)) {
			open = append(open, host.Name)
		}
	}
	if len(open) > 0 {
		v.addf(KindMissing, "inventory.ssh.hostKeys", "add lines of ssh-keyscan that you have compared, or set trustOnFirstUse: true",
			"no host key for %s: connections would be refused", hostlist.Compress(open))
	}
}

// hostKeys checks known_hosts lines and returns the host patterns in them.
// Sure is false when they may match more than can be told from their text.
func (v *validator) hostKeys(lines []string) (patterns []string, sure bool) {
	sure = true
	for i, line := range lines {
		at := strictyaml.Item("inventory.ssh.hostKeys", i)
		marker, hosts, _, _, rest, err := ssh.ParseKnownHosts([]byte(line))
		switch {
		case err != nil:
			v.add(KindInvalid, at, "write: host-or-address key-type base64-key", "not a known_hosts line")
			sure = false
		case len(bytes.TrimSpace(rest)) > 0:
			v.add(KindInvalid, at, "one line an item", "more than one known_hosts line")
		case marker == "revoked":
		default:
			patterns = append(patterns, hosts...)
		}
		if slices.ContainsFunc(hosts, func(h string) bool { return strings.HasPrefix(h, "|") }) {
			sure = false
		}
	}
	return patterns, sure
}

// anyMatches tells whether a known_hosts pattern stands for the host.
func anyMatches(patterns []string, host string) bool {
	matched := false
	for _, pattern := range patterns {
		pattern, negated := strings.CutPrefix(pattern, "!")
		if name, _, ok := strings.Cut(strings.TrimPrefix(pattern, "["), "]:"); ok {
			pattern = name
		}
		if ok, _ := path.Match(pattern, host); ok {
			if negated {
				return false
			}
			matched = true
		}
	}
	return matched
}

func (v *validator) home() {
	home := v.env.Home
	if home == nil {
		return
	}
	v.directory("home.path", home.Path)
	v.directory("home.brick", home.Brick)
	if home.Kind == HomeExisting && home.Brick != "" {
		v.add(KindConflict, "home.brick", "remove it, or write kind: glusterfs", "a brick belongs to glusterfs only")
	}
	if home.Brick != "" && within(home.Brick, home.Path) {
		v.add(KindConflict, "home.brick", "keep it outside home.path", "the data would lie inside the mount it serves")
	}
	if v.env.Lab != nil && home.Kind == HomeExisting {
		v.add(KindConflict, "home.kind", "write glusterfs", "the hosts of a lab have no existing mount")
	}
}

// directory checks an absolute, clean path that is not a system directory.
func (v *validator) directory(at, dir string) {
	switch {
	case dir == "":
	case !strings.HasPrefix(dir, "/") || path.Clean(dir) != dir || strings.ContainsAny(dir, " \t\n#\"'\\"):
		v.addf(KindInvalid, at, "begin with /, without blanks, quotes and trailing slash", "%q is not an absolute path", dir)
	case slices.Contains([]string{"/", "/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/root", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var"}, dir):
		v.addf(KindInvalid, at, "", "%s belongs to the system", dir)
	}
}

func within(inner, outer string) bool {
	return outer != "" && (inner == outer || strings.HasPrefix(inner, strings.TrimSuffix(outer, "/")+"/"))
}

// secrets checks clear text, where it is known. No problem shows it.
func (v *validator) secrets() {
	if inventory := v.env.Inventory; inventory != nil && inventory.SSH.PrivateKey.Value != "" {
		if isCertificate(inventory.SSH.PrivateKey.Value) {
			v.add(KindInvalid, "inventory.ssh.privateKey", "load the certificate and its key into an SSH agent, and leave privateKey out", "a certificate of SSH, not a private key")
		} else if _, err := ssh.ParseRawPrivateKey([]byte(inventory.SSH.PrivateKey.Value)); err != nil {
			v.add(KindInvalid, "inventory.ssh.privateKey", "it must be a whole private key file, without passphrase; one with a passphrase goes into an SSH agent", "not a private SSH key")
		}
	}
	if v.env.Slurm == nil {
		return
	}
	if key := v.env.Slurm.MungeKey.Value; key != "" {
		data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(key))
		if err != nil || len(data) < 32 || len(data) > 1024 {
			v.add(KindInvalid, "slurm.mungeKey", "use the output of: base64 -w0 /etc/munge/munge.key", "not the base64 of 32 to 1024 bytes")
		}
	}
	if database := v.env.Slurm.Database; database != nil && database.MariaDB != nil && strings.ContainsAny(database.MariaDB.Password.Value, " \t\r\n#\"'\\") {
		v.add(KindInvalid, "slurm.database.mariadb.password", "choose another", "slurmdbd.conf cannot hold blanks, quotes, # and \\ in a password")
	}
}

// isCertificate tells whether a text is what an authority has made of a public key.
func isCertificate(text string) bool {
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
	_, ok := key.(*ssh.Certificate)
	return err == nil && ok
}
