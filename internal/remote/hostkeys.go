package remote

import (
	"errors"
	"fmt"
	"strings"
)

// endpoint is a place that ssh connects to, with the other name that people
// may use for it.
type endpoint struct{ name, address, port string }

// pattern is how known_hosts names the endpoint: the address, and the port if
// it is not 22.
func (e endpoint) pattern() string {
	if e.port == "22" {
		return e.address
	}
	return "[" + e.address + "]:" + e.port
}

// knownHostsLine turns a declared host key into a line that ssh finds when it
// connects to the endpoint's address.
func (e endpoint) knownHostsLine(key string) (string, error) {
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
		return e.pattern() + " " + fields[0] + " " + fields[1], nil
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
		if pattern == e.name || pattern == e.address {
			return e.pattern() + " " + fields[1] + " " + fields[2], nil
		}
	}
	return strings.Join(fields[:3], " "), nil
}

// isKeyType reports whether the word names a public key algorithm.
func isKeyType(word string) bool {
	return strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") ||
		strings.HasPrefix(word, "sk-ssh-") || strings.HasPrefix(word, "sk-ecdsa-")
}

// knownHosts renders the declared host keys, each line once.
func knownHosts(targets []Target) (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, t := range targets {
		for _, k := range t.HostKeys {
			line, err := t.endpoint().knownHostsLine(k)
			if err != nil {
				return "", fmt.Errorf("host key of %s: %w", t.Name, err)
			}
			if !seen[line] {
				seen[line] = true
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String(), nil
}
