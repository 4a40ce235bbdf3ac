package connection

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

// bastion is the host to jump through, which may be one of the inventory.
type bastion struct {
	// place as it goes into a connection; empty without a bastion.
	place string
	// host of the inventory that it is, or nil.
	host *config.Host
	// pattern is how known_hosts names it.
	pattern string
}

// bastionOf finds the bastion among the hosts. One of theirs is reached as they
// are: at its address, with their user and port where the bastion names none.
func bastionOf(ssh config.SSH, all []config.Host) bastion {
	user, place, given := strings.Cut(ssh.Bastion, "@")
	if !given {
		user, place = ssh.User, ssh.Bastion
	}
	name, port, err := net.SplitHostPort(place)
	if err != nil {
		name, port = place, strconv.Itoa(ssh.Port)
	}
	for _, host := range all {
		if name == "" || name != host.Name && name != host.Address {
			continue
		}
		address := host.Name
		if host.Address != "" {
			address = host.Address
		}
		b := bastion{place: user + "@" + net.JoinHostPort(address, port), host: &host, pattern: address}
		if port != "22" {
			b.pattern = "[" + address + "]:" + port
		}
		return b
	}
	return bastion{place: ssh.Bastion}
}

// is reports whether the bastion is that host, to which nobody can jump through
// itself.
func (b bastion) is(host config.Host) bool { return b.host != nil && b.host.Name == host.Name }

// keys are the lines about a bastion of the inventory, for hosts behind it: they
// may speak of it by its name, and ssh looks for its address.
func (b bastion) keys(lines []string) []string {
	var keys []string
	for _, line := range lines {
		fields := strings.Fields(line)
		if b.host == nil || len(fields) < 3 || strings.HasPrefix(line, "@") {
			continue
		}
		for name := range strings.SplitSeq(fields[0], ",") {
			if h, _, err := net.SplitHostPort(name); err == nil {
				name = h
			}
			if name == b.host.Name || name == b.host.Address {
				keys = append(keys, b.pattern+" "+strings.Join(fields[1:], " "))
				break
			}
		}
	}
	return slices.Compact(keys)
}
