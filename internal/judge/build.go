package judge

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/debmirror"
)

const packages = "slurmctld,slurmd,slurm-client,munge"

// build makes the tree of a Debian suite with Slurm in it, or says why not.
// Test programs that want the same tree wait for each other.
func build(t testing.TB, suite, root string) string {
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return "mmdebstrap is not installed"
	}
	if err := os.MkdirAll(filepath.Dir(root), 0o755); err != nil {
		return err.Error()
	}
	unlock, err := waitFor(root + ".lock")
	if err != nil {
		return err.Error()
	}
	defer unlock()
	if !version(root).IsZero() {
		return ""
	}
	t.Logf("making %s with mmdebstrap (about a minute, once)", root)
	fresh := root + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err.Error()
	}
	mirror, err := debmirror.Find()
	if err != nil {
		return err.Error()
	}
	out, err := exec.Command("mmdebstrap", "--variant=minbase", "--include="+packages,
		`--aptopt=Acquire::Check-Valid-Until "false"`, suite, fresh,
		fmt.Sprintf("deb %s %s main", mirror, suite)).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("mmdebstrap %s: %v: %s", suite, err, lastLine(string(out)))
	}
	if err := os.RemoveAll(root); err != nil {
		return err.Error()
	}
	if err := os.Rename(fresh, root); err != nil {
		return err.Error()
	}
	return ""
}

func waitFor(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}
