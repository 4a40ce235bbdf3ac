package judge

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// patience is how long a daemon may take to load a file set.
const patience = 60 * time.Second

// Verdict is what slurmctld made of a file set.
type Verdict struct {
	// Loaded tells whether it became the running controller.
	Loaded bool
	// Log is all that it logged.
	Log string
	// Complaints are the log's lines of level error and fatal.
	Complaints []string
}

// Says tells whether the log holds text.
func (v Verdict) Says(text string) bool { return strings.Contains(v.Log, text) }

// Load lets slurmctld load a file set, changed for a trial, and ends it again.
func (j *Judge) Load(t testing.TB, set slurmconf.FileSet) Verdict {
	t.Helper()
	dir := j.tempDir(t)
	files, err := trial(set, place{dir: inRoot(j.Root, dir), host: shortHostname(t)})
	if err != nil {
		t.Fatal(err)
	}
	return j.loadIn(t, dir, files, nil)
}

// Ask loads a file set and runs scontrol with each of the argument lists while
// slurmctld runs. The answers are in the same order; they are empty where the
// set was refused.
func (j *Judge) Ask(t testing.TB, set slurmconf.FileSet, asks ...[]string) (Verdict, []string) {
	t.Helper()
	dir := j.tempDir(t)
	files, err := trial(set, place{dir: inRoot(j.Root, dir), host: shortHostname(t)})
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(asks))
	verdict := j.loadIn(t, dir, files, func(pid int) {
		for i, args := range asks {
			cmd := j.command("", append([]string{"/usr/bin/scontrol"}, args...)...)
			cmd.Path, cmd.Args = enter(pid, cmd.Args)
			cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(inRoot(j.Root, dir), "slurm.conf"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("scontrol %q: %v", args, err)
			}
			answers[i] = string(out)
		}
	})
	return verdict, answers
}

// loadIn writes the files, starts slurmctld in namespaces of its own, waits
// until it runs or has ended, calls while with its process id, and stops it.
func (j *Judge) loadIn(t testing.TB, dir string, files map[string]string, while func(pid int)) Verdict {
	t.Helper()
	for _, sub := range []string{"state", "spool"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	writeFiles(t, dir, files)
	cmd := j.command(" ", "/usr/sbin/slurmctld", "-D", "-c", "-f", filepath.Join(inRoot(j.Root, dir), "slurm.conf"))
	// A test that is killed runs no clean-up; its daemon must go all the same.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := &logBuffer{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	loaded := log.waitUntil(func(s string) bool { return strings.Contains(s, "Running as primary controller") }, ended, patience)
	if loaded && while != nil {
		while(cmd.Process.Pid)
	}
	stop(cmd, ended)
	if !loaded && log.String() == "" {
		t.Fatal("slurmctld ended without a word")
	}
	return Verdict{Loaded: loaded, Log: log.String(), Complaints: complaints(log.String())}
}

// command prepares a program under the judge's root, in new network and mount
// namespaces. before is shell text that runs in them first.
func (j *Judge) command(before string, args ...string) *exec.Cmd {
	run := args
	if j.Root != "/" {
		run = append([]string{"chroot", j.Root}, args...)
	}
	if before == "" {
		return exec.Command(run[0], run[1:]...)
	}
	// Names resolve only where there is an address besides 127.0.0.1.
	before = "ip link set lo up && ip address add 192.0.2.1/32 dev lo && " + before + `exec "$@"`
	shell := []string{"--net", "--mount", "--", "sh", "-c", before, "sh"}
	return exec.Command("unshare", append(shell, run...)...)
}

// enter prefixes a command line so that it runs in the namespaces of pid.
func enter(pid int, args []string) (path string, full []string) {
	path, err := exec.LookPath("nsenter")
	if err != nil {
		path = "nsenter"
	}
	return path, append([]string{"nsenter", "--net", "--mount", fmt.Sprintf("--target=%d", pid), "--"}, args...)
}

// stop ends the process that we started: with a signal, then for good.
func stop(cmd *exec.Cmd, ended <-chan struct{}) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
	}
}

func complaints(log string) []string {
	var out []string
	for _, line := range strings.Split(log, "\n") {
		if strings.Contains(line, "error:") || strings.Contains(line, "fatal:") {
			out = append(out, line)
		}
	}
	return out
}

// tempDir makes a directory that the judge's programs can see, gone when the
// test ends.
func (j *Judge) tempDir(t testing.TB) string {
	t.Helper()
	parent := filepath.Join(j.Root, "tmp")
	dir, err := os.MkdirTemp(parent, "judge-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// inRoot is the path by which a program under root knows path.
func inRoot(root, path string) string {
	if root == "/" {
		return path
	}
	return strings.TrimPrefix(path, root)
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func shortHostname(t testing.TB) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	short, _, _ := strings.Cut(name, ".")
	return short
}

// logBuffer collects a daemon's output and lets one wait for words in it.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// waitUntil polls the log until done says so, the process has ended or the
// time is up, and returns what done says at the end.
func (l *logBuffer) waitUntil(done func(string) bool, ended <-chan struct{}, limit time.Duration) bool {
	deadline := time.After(limit)
	for {
		if done(l.String()) {
			return true
		}
		select {
		case <-ended:
			return done(l.String())
		case <-deadline:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
}
