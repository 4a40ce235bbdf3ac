package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"
)

// Config says which hosts a session reaches, and how it proves who it is.
type Config struct {
	// Targets are the hosts. Names are unique.
	Targets []Target
	// PrivateKey is an OpenSSH or PEM private key. Secret. Default: the
	// deployer's SSH agent and default keys.
	PrivateKey string
	// KnownHostsFile is where keys trusted on first use are remembered. Default: the
	// deployer's ~/.ssh/known_hosts.
	KnownHostsFile string
	// ConnectTimeout bounds the making of one connection, in whole seconds; one
	// through a bastion may take three times as long. Default 10 s.
	ConnectTimeout time.Duration
}

// Session holds what is needed to reach a set of hosts. It is safe for
// concurrent use.
type Session struct {
	dir     string
	config  string
	targets map[string]Target
	sockets map[string]string
}

// Open makes a session. It connects to nothing yet. The error lists every
// target that cannot be used.
func Open(ctx context.Context, c Config) (*Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("opening an SSH session: %w", err)
	}
	targets := make([]Target, 0, len(c.Targets))
	seen := map[string]bool{}
	var problems []error
	for _, t := range c.Targets {
		t = t.withDefaults()
		problems = append(problems, t.validate())
		if seen[t.Name] {
			problems = append(problems, fmt.Errorf("target %s: given twice", t.Name))
		}
		seen[t.Name] = true
		targets = append(targets, t)
	}
	if err := errors.Join(problems...); err != nil {
		return nil, fmt.Errorf("opening an SSH session: %w", err)
	}
	if _, err := exec.LookPath("ssh"); err != nil {
		return nil, fmt.Errorf("opening an SSH session: the ssh program is missing (Debian: apt-get install openssh-client): %w", err)
	}
	sort.Slice(targets, func(i, j int) bool { return targets[i].Name < targets[j].Name })

	// A control socket's path holds at most 108 bytes, so the directory is
	// made under /tmp whatever TMPDIR says. MkdirTemp makes it 0700.
	sweep("/tmp")
	dir, err := os.MkdirTemp("/tmp", fmt.Sprintf("%s%d-", dirPrefix, os.Getpid()))
	if err != nil {
		return nil, fmt.Errorf("opening an SSH session: %w", err)
	}
	s := &Session{dir: dir, config: filepath.Join(dir, "ssh_config"), targets: map[string]Target{}, sockets: map[string]string{}}
	for i, t := range targets {
		s.targets[t.Name] = t
		s.sockets[t.Name] = filepath.Join(dir, fmt.Sprintf("s%d", i))
	}
	if err := s.write(c, targets); err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("opening an SSH session: %w", err)
	}
	return s, nil
}

// write places the session's files.
func (s *Session) write(c Config, targets []Target) error {
	known := filepath.Join(s.dir, "known_hosts")
	lines, err := knownHosts(targets)
	if err != nil {
		return err
	}
	if err := os.WriteFile(known, []byte(lines), 0o600); err != nil {
		return err
	}
	o := options{declaredKeys: known, connectTimeout: c.ConnectTimeout, sockets: s.sockets}
	if slices.ContainsFunc(targets, func(t Target) bool { return t.TrustOnFirstUse }) {
		if o.rememberedKeys, err = rememberedKeys(c.KnownHostsFile); err != nil {
			return err
		}
	}
	if c.PrivateKey != "" {
		o.identity = filepath.Join(s.dir, "key")
		if err := os.WriteFile(o.identity, []byte(strings.TrimRight(c.PrivateKey, "\n")+"\n"), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(s.config, []byte(sshConfig(targets, o)), 0o600)
}

// rememberedKeys returns the file that remembers host keys, with its folder
// made.
func rememberedKeys(file string) (string, error) {
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding known_hosts: %w", err)
		}
		file = filepath.Join(home, ".ssh", "known_hosts")
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", fmt.Errorf("remembering host keys: %w", err)
	}
	return file, nil
}

// Dir is the session's private directory. What is put there goes with Close.
func (s *Session) Dir() string { return s.dir }

// ConfigFile is the ssh_config of the session, in which every target is a
// Host of its name.
func (s *Session) ConfigFile() string { return s.config }

// Target returns the target of that name, with its defaults filled.
func (s *Session) Target(name string) (Target, bool) {
	t, ok := s.targets[name]
	return t, ok
}

// Hosts are the names of all targets, sorted.
func (s *Session) Hosts() []string {
	names := make([]string, 0, len(s.targets))
	for n := range s.targets {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Close ends the shared connections and removes the private directory. It
// does not wait for commands that still run.
func (s *Session) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 16)
	for name, socket := range s.sockets {
		if _, err := os.Lstat(socket); err != nil {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			// A master that is gone already is what we want.
			_ = exec.CommandContext(ctx, "ssh", "-F", s.config, "-O", "exit", "--", name).Run()
		}()
	}
	wg.Wait()
	if err := os.RemoveAll(s.dir); err != nil {
		return fmt.Errorf("closing an SSH session: %w", err)
	}
	return nil
}
