package remote

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// options are what the session's ssh_config says besides the targets.
type options struct {
	declaredKeys   string // known_hosts file of the keys that were declared
	rememberedKeys string // known_hosts file of the keys that were trusted; may be ""
	identity       string
	connectTimeout time.Duration
	sockets        map[string]string
}

// sshConfig renders the session's ssh_config. The user's own configuration is
// not read, so that a run does not depend on who runs it.
func sshConfig(targets []Target, o options) string {
	timeout := int(o.connectTimeout / time.Second)
	if timeout <= 0 {
		timeout = 10
	}
	var b strings.Builder
	for _, t := range targets {
		fmt.Fprintf(&b, "Host %s\n", t.Name)
		fmt.Fprintf(&b, "  HostName %s\n", t.Address)
		fmt.Fprintf(&b, "  Port %d\n", t.Port)
		fmt.Fprintf(&b, "  User %s\n", t.User)
		if t.Bastion != "" {
			// The connection to the bastion ends first, so that it can be told
			// which of the two is away.
			fmt.Fprintf(&b, "  ProxyJump %s\n  ConnectTimeout %d\n", t.Bastion, 3*timeout)
		}
		b.WriteString(checking(t.TrustOnFirstUse, o))
		// One connection a host serves every command of the session. The
		// bastion's own connections are not shared.
		fmt.Fprintf(&b, "  ControlMaster auto\n  ControlPath %s\n  ControlPersist 60\n\n", o.sockets[t.Name])
	}
	bastions := map[string]bool{}
	for _, t := range targets {
		bastions[t.Name] = true // has its block
	}
	for _, t := range targets {
		name := t.bastion().name
		if t.Bastion == "" || bastions[name] {
			continue
		}
		bastions[name] = true
		// That the host behind it cannot be reached is no error to ssh.
		fmt.Fprintf(&b, "Host %s\n  LogLevel INFO\n", name)
		if slices.ContainsFunc(targets, func(other Target) bool { return other.TrustOnFirstUse && other.bastion().name == name }) {
			b.WriteString(checking(true, o))
		}
		b.WriteString("\n")
	}

	b.WriteString("Host *\n")
	fmt.Fprintf(&b, "  ConnectTimeout %d\n", timeout)
	// A host that vanishes is noticed after 15 s of silence.
	b.WriteString("  ServerAliveInterval 5\n  ServerAliveCountMax 3\n")
	b.WriteString("  BatchMode yes\n  LogLevel ERROR\n")
	b.WriteString(checking(false, o))
	b.WriteString("  GlobalKnownHostsFile none\n  UpdateHostKeys no\n  HashKnownHosts no\n")
	if o.identity != "" {
		fmt.Fprintf(&b, "  IdentityFile %s\n  IdentitiesOnly yes\n", o.identity)
	}
	return b.String()
}

// checking says which host keys are accepted.
func checking(firstUse bool, o options) string {
	if !firstUse {
		return fmt.Sprintf("  StrictHostKeyChecking yes\n  UserKnownHostsFile %q\n", o.declaredKeys)
	}
	// ssh adds a new key to the first file it is given.
	return fmt.Sprintf("  StrictHostKeyChecking accept-new\n  UserKnownHostsFile %q %q\n", o.rememberedKeys, o.declaredKeys)
}
