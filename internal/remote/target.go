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
		if _, err := t.knownHostsLine(k); err != nil {
			problems = append(problems, fmt.Errorf("target %s: host key %d: %w", t.Name, i, err))
		}
	}
	return errors.Join(problems...)
}

// hostPattern is how known_hosts names the target: the address, and the port
// if it is not 22.
func (t Target) hostPattern() string {
	if t.Port == 22 {
		return t.Address
	}
	return "[" + t.Address + "]:" + strconv.Itoa(t.Port)
}

// knownHostsLine turns a declared host key into a line that ssh finds when it
// connects to the target's address.
func (t Target) knownHostsLine(key string) (string, error) {
	if strings.ContainsAny(key, "\n\r") {
		return "", errors.New("more than one line")
	}
	fields := strings.Fields(key)
	switch {
	case len(fields) == 0:
		return "", errors.New("empty")
	case isKeyType(fields[0]):
		if len(fields) < 2 {
			return "", errors.New("a key type without a key")
		}
		return t.hostPattern() + " " + fields[0] + " " + fields[1], nil
	case strings.HasPrefix(fields[0], "@"): // @cert-authority, @revoked
		if len(fields) < 4 || !isKeyType(fields[2]) {
			return "", errors.New("not a known_hosts line")
		}
		return strings.Join(fields[:4], " "), nil
	case len(fields) < 3 || !isKeyType(fields[1]):
		return "", errors.New("not a known_hosts line nor a public key")
	}
	// A line that speaks of the host by its name must also be found when the
	// connection goes to its address.
	for _, pattern := range strings.Split(fields[0], ",") {
		if pattern == t.Name || pattern == t.Address {
			return t.hostPattern() + " " + fields[1] + " " + fields[2], nil
		}
	}
	return strings.Join(fields[:3], " "), nil
}

// isKeyType reports whether the word names a public key algorithm.
func isKeyType(word string) bool {
	return strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") ||
		strings.HasPrefix(word, "sk-ssh-") || strings.HasPrefix(word, "sk-ecdsa-")
}
