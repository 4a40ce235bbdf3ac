package slurmtest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// The folders of root file systems of Debian releases, and of what
// prepare.sh adds to them.
const (
	Roots  = "/var/cache/gpucluster/judge"
	Layers = "/var/cache/gpucluster/slurmtest"
)

// Releases are the Slurm releases that can be run, with the Debian release
// that has each; "" is this machine's own.
var Releases = map[string]string{
	"22.05": "",
	"24.11": "trixie",
	"26.05": "forky",
}

// bootScript makes the private view and then sleeps as the sandbox's first
// process. $1 is a scratch folder, $2 the lower layers of the overlay.
const bootScript = `
ip link set lo up
# Slurm looks names up for the address families that the machine has, and
# 127.0.0.1 does not count.
ip addr add 10.77.0.1/32 dev lo
hostname ctl1
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" "$1/root"
root="$1/root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
# slurmd 22.05 wants something here, though no controller is used.
mount -t tmpfs tmpfs "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
mkdir -m 1777 "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
for d in 'null 1 3' 'zero 1 5' 'full 1 7' 'random 1 8' 'urandom 1 9' 'tty 5 0'; do
	set -- $d "$root"
	mknod -m 666 "$4/dev/$1" c "$2" "$3"
done
n=0
while [ $n -lt 8 ]; do
	mknod -m 666 "$root/dev/nvidia$n" c 195 $n
	n=$((n + 1))
done
rm -f "$root/usr/sbin/policy-rc.d"
printf '127.0.0.1 localhost\n10.77.0.1 ctl1\n' >"$root/etc/hosts"
echo ctl1 >"$root/etc/hostname"
: >"$root/etc/resolv.conf"
# A shell that waits reaps every daemon that ends, as an init does.
exec chroot "$root" /bin/sh -c 'echo ready; while :; do sleep 1; done'
`

// Sandbox is a private view of a machine. It is a [shell.Runner].
type Sandbox struct {
	// Release of Slurm that it holds.
	Release string

	pid int
}

// Start makes a sandbox that holds a release of Slurm and ends it with the test.
func Start(t testing.TB, release string) *Sandbox {
	t.Helper()
	suite, known := Releases[release]
	if !known {
		t.Fatalf("no root file system for Slurm %s", release)
	}
	root, layers := "/", "/"
	if suite != "" {
		root = filepath.Join(Roots, suite)
		layers = filepath.Join(Layers, suite) + ":" + root
		if _, err := os.Stat(filepath.Join(Layers, suite)); err != nil {
			t.Skipf("skipped: no packages for Slurm %s; internal/slurmtest/prepare.sh makes them", release)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: real daemons need root rights")
	}
	for _, tool := range []string{"unshare", "nsenter", "ip"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: no %s on this machine", tool)
		}
	}
	for _, daemon := range []string{"slurmctld", "slurmd", "munged"} {
		if _, err := os.Stat(filepath.Join(root, "usr/sbin", daemon)); err != nil {
			t.Skipf("skipped: no %s of Slurm %s (%s)", daemon, release, root)
		}
	}
	s, err := boot(t, release, layers)
	if err != nil {
		t.Skipf("skipped: this machine cannot make a sandbox: %v", err)
	}
	return s
}

func boot(t testing.TB, release, layers string) (*Sandbox, error) {
	scratch, err := os.MkdirTemp("", "slurmtest-")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("unshare", "--net", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child",
		"sh", "-ec", bootScript, "slurmtest", scratch, layers)
	// A test that panics runs no clean-up; the sandbox must go all the same.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.Remove(scratch)
	})
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		_ = cmd.Wait()
		return nil, fmt.Errorf("%s", strings.TrimSpace(stderr.String()))
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", cmd.Process.Pid))
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		return nil, fmt.Errorf("finding the sandbox's first process: %w", err)
	}
	return &Sandbox{Release: release, pid: pid}, nil
}

// Run runs a shell command as root in the sandbox.
func (s *Sandbox) Run(ctx context.Context, command string, stdin []byte) ([]byte, error) {
	enter := shell.Exec{"nsenter", "--target", strconv.Itoa(s.pid),
		"--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd", "/bin/sh", "-c"}
	return enter.Run(ctx, command, stdin)
}

// Must runs a command that the test cannot do without and returns its output.
func (s *Sandbox) Must(t testing.TB, command string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := s.Run(ctx, command, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// Write puts a file into the sandbox.
func (s *Sandbox) Write(t testing.TB, path, content string) {
	t.Helper()
	dir := shell.Quote(filepath.Dir(path))
	cmd := "mkdir -p " + dir + " && cat > " + shell.Quote(path)
	if out, err := s.Run(context.Background(), cmd, []byte(content)); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Until runs a command until want accepts its output, for at most limit.
func (s *Sandbox) Until(t testing.TB, limit time.Duration, command string, want func(out string) bool) string {
	t.Helper()
	deadline := time.Now().Add(limit)
	for {
		out, err := s.Run(context.Background(), command, nil)
		if err == nil && want(string(out)) {
			return string(out)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not as wanted after %s: %v\n%s", command, limit, err, out)
		}
		time.Sleep(200 * time.Millisecond)
	}
}
