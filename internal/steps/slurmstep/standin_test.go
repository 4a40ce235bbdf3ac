package slurmstep

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

// standIn is a set of hosts that exist only on PATH: an ssh that runs commands
// on this machine, where stand-ins answer as Slurm's programs would, with the host's name in $host.
type standIn struct {
	dir string
	log strings.Builder
	// entries of the environment that a step is given besides.
	entries map[string]string
}

// hosts puts the stand-ins on PATH. Programs map a name to the shell script
// that it is. A host called "gone" is not there, and one called "locked" refuses
// the login.
func hosts(t *testing.T, programs map[string]string) *standIn {
	t.Helper()
	s := &standIn{dir: t.TempDir()}
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

func (s *standIn) program(t *testing.T, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

// asked tells what was asked of hosts.
func (s *standIn) asked() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "asked"))
	return string(text)
}

// input gives a step its spec and connections to the named hosts.
func (s *standIn) input(t *testing.T, spec any, names ...string) *step.Input {
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
		return s.entries[entry]
	}, io.MultiWriter(&s.log))
}

// up is an scontrol whose slurmctld answers.
const up = `case "$*" in
ping) echo "Slurmctld(primary) at ctl1 is UP" ;;
esac`

// down is one whose slurmctld does not.
const down = `echo "Slurmctld(primary) at ctl1 is DOWN"; exit 1`

// running is a squeue with a job, waiting with one that has not begun, and idle
// without.
const (
	running = `echo '7|R|alice|research|train|gpu1|||(null)|1|normal|train-llm'`
	waiting = `echo '8|PD|bob|product|train||||(null)|2|normal|sweep'`
	idle    = `true`
)
