package remote

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
)

// Target says how one host is reached.
type Target struct {
	// Name is what the host is called here and in every report.
	Name string `json:"name"`
	// Address is a host name or an IP address. Default: Name.
	Address string `json:"address,omitempty"`
	// Port of the SSH daemon. Default 22.
	Port int `json:"port,omitempty"`
	// User to log in as. Default "root"; any other user needs sudo without a
	// password.
	User string `json:"user,omitempty"`
	// HostKeys are the keys that the host may present: known_hosts lines, or
	// bare public keys ("ssh-ed25519 AAAA…") that are taken as this host's.
	// Lines for the bastion belong here too.
	HostKeys []string `json:"hostKeys,omitempty"`
	// Bastion is a host to jump through, as [user@]host[:port].
	Bastion string `json:"bastion,omitempty"`
	// TrustOnFirstUse accepts a key of this host, and of its bastion, that was
	// never seen, and remembers it. A changed key is refused all the same.
	TrustOnFirstUse bool `json:"trustOnFirstUse,omitempty"`
}

// What may stand in an ssh_config value without being read as an option, a
// pattern or a second word.
var (
	safeName    = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
	safeUser    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9._-]*\$?$`)
	safeBastion = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9._-]*@)?[A-Za-z0-9\[][A-Za-z0-9._:\]-]*$`)
)

// withDefaults fills what the target leaves out.
func (t Target) withDefaults() Target {
	if t.Address == "" {
		t.Address = t.Name
	}
	if t.Port == 0 {
		t.Port = 22
	}
	if t.User == "" {
		t.User = "root"
	}
	return t
}

// validate refuses values that could not be written into an ssh_config safely.
func (t Target) validate() error {
	var problems []error
	if !safeName.MatchString(t.Name) {
		problems = append(problems, fmt.Errorf("target %q: not a host name", t.Name))
	}
	if !safeName.MatchString(t.Address) && net.ParseIP(t.Address) == nil {
		problems = append(problems, fmt.Errorf("target %s: %q is neither a host name nor an address", t.Name, t.Address))
	}
	if t.Port < 1 || t.Port > 65535 {
		problems = append(problems, fmt.Errorf("target %s: port %d is not between 1 and 65535", t.Name, t.Port))
	}
	if !safeUser.MatchString(t.User) {
		problems = append(problems, fmt.Errorf("target %s: %q is not a user name", t.Name, t.User))
	}
	if t.Bastion != "" && !safeBastion.MatchString(t.Bastion) {
		problems = append(problems, fmt.Errorf("target %s: bastion %q is not [user@]host[:port]", t.Name, t.Bastion))
	}
	for i, k := range t.HostKeys {
		if _, err := t.endpoint().knownHostsLine(k); err != nil {
			problems = append(problems, fmt.Errorf("target %s: host key %d: %w", t.Name, i, err))
		}
	}
	return errors.Join(problems...)
}

// endpoint is what the host's keys belong to.
func (t Target) endpoint() endpoint {
	return endpoint{name: t.Name, address: t.Address, port: strconv.Itoa(t.Port)}
}

// bastion is what the bastion's keys belong to.
func (t Target) bastion() endpoint {
	_, host, found := strings.Cut(t.Bastion, "@")
	if !found {
		host = t.Bastion
	}
	port := "22"
	if h, p, err := net.SplitHostPort(host); err == nil {
		host, port = h, p
	}
	host = strings.Trim(host, "[]")
	return endpoint{name: host, address: host, port: port}
}
