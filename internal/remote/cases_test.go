package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestCaseK23 has a host at whose address nobody speaks, with no limit but the
// session's own: it is told, by its name, long before anybody would cut it off.
func TestCaseK23(t *testing.T) {
	t.Parallel()
	d := startDaemon(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	hung := d.target("hung")
	hung.Port = silent.Addr().(*net.TCPAddr).Port
	s := open(t, Config{Targets: []Target{hung}, PrivateKey: d.private})
	config := read(t, s.Dir(), "ssh_config")
	for _, bound := range []string{"ConnectTimeout 10", "ServerAliveInterval 5", "ServerAliveCountMax 3"} {
		if !strings.Contains(config, bound) {
			t.Errorf("nothing says %q:\n%s", bound, config)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), CommandLimit/2, errors.New("cut off by the test"))
	defer cancel()
	if _, err := s.Run(ctx, "hung", "true", nil); !IsGone(err) || !strings.HasPrefix(err.Error(), "hung: cannot be reached over SSH") {
		t.Errorf("got %v", err)
	}
}

// TestCaseK24 logs in with a key that the host does not know, and as somebody who
// is not there: both are told apart from a host that cannot be reached, with the
// user, and are tried once, since hosts shut those out who try often.
func TestCaseK24(t *testing.T) {
	d, other := startDaemonWith(t, "MaxStartups 100\nLogLevel VERBOSE"), startDaemon(t)
	nobody := d.target("n1")
	nobody.User = "nobody-here"
	for name, c := range map[string]struct {
		target Target
		key    string
	}{
		"another key":  {d.target("n1"), other.private},
		"another user": {nobody, d.private},
	} {
		before := strings.Count(d.log(), "Connection from")
		_, err := open(t, Config{Targets: []Target{c.target}, PrivateKey: c.key}).Run(t.Context(), "n1", "true", nil)
		if err == nil || IsGone(err) || !strings.HasPrefix(err.Error(), "n1: no login over SSH") || !strings.Contains(err.Error(), c.target.User+"@127.0.0.1: Permission denied") {
			t.Errorf("%s: %v", name, err)
		}
		if tried := strings.Count(d.log(), "Connection from") - before; tried != 1 {
			t.Errorf("%s: %d logins were tried, want 1:\n%s", name, tried, d.log())
		}
	}
}

// TestCaseK25 checks that a key is enough by itself, whatever agent the deployer's
// shell speaks of, and that without one the agent's keys log in, which may have
// had a passphrase.
func TestCaseK25(t *testing.T) {
	d := startDaemon(t)
	run := func(key string) error {
		_, err := open(t, Config{Targets: []Target{d.target("n1")}, PrivateKey: key}).Run(t.Context(), "n1", "true", nil)
		return err
	}
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(t.TempDir(), "nobody-listens"))
	if err := run(d.private); err != nil {
		t.Errorf("with a key, and an agent that is away: %v", err)
	}
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(d.private+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tool(t, "ssh-keygen", "-q", "-p", "-P", "", "-N", "a passphrase", "-f", file)
	startAgent(t)
	if err := run(""); err == nil || !strings.Contains(err.Error(), "no login over SSH (load the key that logs in") {
		t.Errorf("with an agent that has no key: %v", err)
	}
	asks := filepath.Join(t.TempDir(), "asks")
	if err := os.WriteFile(asks, []byte("#!/bin/sh\necho a passphrase\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSH_ASKPASS", asks)
	t.Setenv("SSH_ASKPASS_REQUIRE", "force")
	tool(t, "ssh-add", "-q", file)
	if err := run(""); err != nil {
		t.Errorf("with the agent's key: %v", err)
	}
}

// TestCaseK26 has a host that knows no keys but those that an authority has signed:
// an agent with such a certificate logs in, and who gives the key alone is told how
// certificates are used.
func TestCaseK26(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"authority", "person"} {
		tool(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name))
	}
	d := startDaemonWith(t, "MaxStartups 100\nTrustedUserCAKeys "+filepath.Join(dir, "authority.pub"))
	tool(t, "ssh-keygen", "-q", "-s", filepath.Join(dir, "authority"), "-I", "person", "-n", "root", filepath.Join(dir, "person.pub"))
	run := func(key string) error {
		_, err := open(t, Config{Targets: []Target{d.target("n1")}, PrivateKey: key}).Run(t.Context(), "n1", "true", nil)
		return err
	}
	if err := run(read(t, dir, "person")); err == nil || !strings.Contains(err.Error(), "certificates are used through an agent") {
		t.Errorf("the key without its certificate: %v", err)
	}
	startAgent(t)
	tool(t, "ssh-add", "-q", filepath.Join(dir, "person"))
	if err := run(""); err != nil {
		t.Errorf("the agent's certificate: %v", err)
	}
}

// startAgent runs an agent without keys until the test ends, and has what this
// process starts ask it.
func startAgent(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "agent-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	agent := exec.Command("ssh-agent", "-D", "-a", socket)
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("unix", socket)
		if err == nil {
			_ = c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the agent does not listen: %v", err)
		}
	}
	t.Setenv("SSH_AUTH_SOCK", socket)
}

// tool runs a program of OpenSSH's.
func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatal(fmt.Errorf("%s: %w: %s", name, err, out))
	}
}
