package remote

import (
	"fmt"
	"strings"
	"time"
)

// options are what the session's ssh_config says besides the targets.
type options struct {
	knownHosts     []string
	acceptNew      bool
	identity       string
	connectTimeout time.Duration
	sockets        map[string]string
}

// sshConfig renders the session's ssh_config. The user's own configuration is
// not read, so that a run does not depend on who runs it.
func sshConfig(targets []Target, o options) string {
	var b strings.Builder
	for _, t := range targets {
		fmt.Fprintf(&b, "Host %s\n", t.Name)
		fmt.Fprintf(&b, "  HostName %s\n", t.Address)
		fmt.Fprintf(&b, "  Port %d\n", t.Port)
		fmt.Fprintf(&b, "  User %s\n", t.User)
		if t.Bastion != "" {
			fmt.Fprintf(&b, "  ProxyJump %s\n", t.Bastion)
		}
		// One connection a host serves every command of the session. The
		// bastion's own connections are not shared.
		fmt.Fprintf(&b, "  ControlMaster auto\n  ControlPath %s\n  ControlPersist 60\n\n", o.sockets[t.Name])
	}

	timeout := int(o.connectTimeout / time.Second)
	if timeout <= 0 {
		timeout = 10
	}
	checking := "yes"
	if o.acceptNew {
		checking = "accept-new"
	}
	b.WriteString("Host *\n")
	fmt.Fprintf(&b, "  ConnectTimeout %d\n", timeout)
	// A host that vanishes is noticed after 15 s of silence.
	b.WriteString("  ServerAliveInterval 5\n  ServerAliveCountMax 3\n")
	b.WriteString("  BatchMode yes\n  LogLevel ERROR\n")
	fmt.Fprintf(&b, "  StrictHostKeyChecking %s\n", checking)
	fmt.Fprintf(&b, "  UserKnownHostsFile %s\n", quoted(o.knownHosts))
	b.WriteString("  GlobalKnownHostsFile none\n  UpdateHostKeys no\n  HashKnownHosts no\n")
	if o.identity != "" {
		fmt.Fprintf(&b, "  IdentityFile %s\n  IdentitiesOnly yes\n", o.identity)
	}
	return b.String()
}

// knownHosts renders the declared host keys, each line once.
func knownHosts(targets []Target) (string, error) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, t := range targets {
		for _, k := range t.HostKeys {
			line, err := t.knownHostsLine(k)
			if err != nil {
				return "", fmt.Errorf("target %s: %w", t.Name, err)
			}
			if !seen[line] {
				seen[line] = true
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String(), nil
}

// quoted writes file names as words of one ssh_config value.
func quoted(files []string) string {
	words := make([]string, len(files))
	for i, f := range files {
		words[i] = `"` + f + `"`
	}
	return strings.Join(words, " ")
}
