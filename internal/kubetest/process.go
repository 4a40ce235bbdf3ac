package kubetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// programs are the files that a control plane runs from.
type programs struct{ kubernetes, etcd string }

// findPrograms looks in the store.
func findPrograms() (programs, error) {
	kubernetes, err := newest("kubernetes")
	if err != nil {
		return programs{}, err
	}
	etcd, err := newest("etcd")
	return programs{kubernetes, etcd}, err
}

// newest is the file of a program that the store was last asked for.
func newest(name string) (string, error) {
	store := artifacts.DefaultStore()
	found, err := filepath.Glob(filepath.Join(store, "programs", name+"-*"))
	if err != nil {
		return "", err
	}
	var latest time.Time
	var at string
	for _, path := range found {
		// Only a digest follows the name: kubernetes-next is another program.
		if digest := strings.TrimPrefix(filepath.Base(path), name+"-"); strings.ContainsAny(digest, "-.") {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.ModTime().After(latest) {
			latest, at = info.ModTime(), path
		}
	}
	if at == "" {
		return "", fmt.Errorf("needs %s in %s; make tools ENV=lab-kubernetes makes it", name, store)
	}
	return at, nil
}

// Process is a program that runs beside a test.
type Process struct{ cmd *exec.Cmd }

// Kill ends it at once, as a crash would, before the test ends.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// MemoryMiB is what it holds in memory now.
func (p *Process) MemoryMiB() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("reading the memory of a process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmRSS:" {
			kib, err := strconv.Atoi(fields[1])
			return kib / 1024, err
		}
	}
	return 0, fmt.Errorf("a process that has ended has no memory")
}

// run starts a program under a name until the test ends. What it writes is kept
// for [plane.log].
func (p *plane) run(t testing.TB, program, name string, args ...string) *Process {
	t.Helper()
	log, err := os.OpenFile(p.file(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.Command(program, args...)
	// One file holds all of Kubernetes' programs, told apart by this name.
	cmd.Args[0] = name
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	process := &Process{cmd}
	p.processes[name] = process
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s wrote at last:\n%s", name, p.log(name))
		}
		// Not asked to end: the API server would wait a minute for those who watch.
		process.Kill()
	})
	return process
}

// log is the end of what a program wrote.
func (p *plane) log(name string) []byte {
	const most = 30
	text, _ := os.ReadFile(p.file(name + ".log"))
	lines := bytes.SplitAfter(text, []byte("\n"))
	return bytes.Join(lines[max(0, len(lines)-most):], nil)
}
