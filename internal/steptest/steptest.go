// Package steptest runs steps in tests without hosts: an ssh on PATH runs their
// commands on this machine, where scripts answer as a cluster's programs would.
package steptest

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Hosts are a set of hosts that exist only on PATH.
type Hosts struct {
	// Log is what the step says of its progress.
	Log strings.Builder
	// Entries of the environment that a step is given besides.
	Entries map[string]string

	dir string
}

// New puts the stand-ins on PATH, each with the host's name in $host. Programs map a name to the shell script
// that it is. A host called "gone" is not there, and one called "locked" refuses
// the login.
func New(t *testing.T, programs map[string]string) *Hosts {
	t.Helper()
	s := &Hosts{dir: t.TempDir()}
	s.program(t, "ssh", `while [ "$1" != -- ]; do shift; done
export host=$2
command=$3
echo "$host: $command" >>`+s.dir+`/asked
case $host in
gone) echo "ssh: connect to host gone port 22: No route to host" >&2; exit 255 ;;
locked) echo "root@locked: Permission denied (publickey)." >&2; exit 255 ;;
esac
exec sh -c "$command"`)
	for name, script := range programs {
		s.program(t, name, script)
	}
	t.Setenv("PATH", s.dir+":"+os.Getenv("PATH"))
	return s
}

func (s *Hosts) program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// Asked tells what was asked of hosts.
func (s *Hosts) Asked() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "asked"))
	return string(text)
}

// Input gives a step its spec and connections to the named hosts.
func (s *Hosts) Input(t *testing.T, spec any, names ...string) *step.Input {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	targets := []remote.Target{}
	for _, name := range names {
		targets = append(targets, remote.Target{Name: name})
	}
	list, err := json.Marshal(targets)
	if err != nil {
		t.Fatal(err)
	}
	return step.NewInput(text, func(entry string) string {
		if entry == step.EnvTargets {
			return string(list)
		}
		return s.Entries[entry]
	}, io.MultiWriter(&s.Log))
}
