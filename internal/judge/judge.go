package judge

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// suites maps a release line to the Debian suite that packages it.
var suites = map[slurmconf.Version]string{
	slurmconf.V2205: "bookworm",
	slurmconf.V2411: "trixie",
	slurmconf.V2605: "forky",
}

// Judge runs the daemons of one release.
type Judge struct {
	// Version is the release line.
	Version slurmconf.Version
	// Root is the tree that the programs live in, "/" for this machine's own.
	Root string
}

var (
	lock  sync.Mutex
	found = map[slurmconf.Version]*Judge{}
	lacks = map[slurmconf.Version]string{}
)

// For returns the judge of a release, or skips the test where there is none.
func For(t testing.TB, v slurmconf.Version) *Judge {
	t.Helper()
	lock.Lock()
	defer lock.Unlock()
	if found[v] == nil && lacks[v] == "" {
		found[v], lacks[v] = find(t, v)
	}
	if found[v] == nil {
		t.Skipf("no Slurm %s to judge with: %s", v, lacks[v])
	}
	return found[v]
}

// find looks on this machine, then in the cache, then makes the tree.
func find(t testing.TB, v slurmconf.Version) (*Judge, string) {
	if os.Geteuid() != 0 {
		return nil, "namespaces need root"
	}
	for _, program := range []string{"unshare", "chroot", "ip"} {
		if _, err := exec.LookPath(program); err != nil {
			return nil, program + " is not installed"
		}
	}
	if version("/") == v {
		return &Judge{Version: v, Root: "/"}, ""
	}
	suite, ok := suites[v]
	if !ok {
		return nil, "no Debian suite has it"
	}
	root := filepath.Join(cacheDir(), suite)
	if version(root) != v {
		if why := build(t, suite, root); why != "" {
			return nil, why
		}
	}
	if got := version(root); got != v {
		return nil, root + " holds Slurm " + got.String()
	}
	return &Judge{Version: v, Root: root}, ""
}

func cacheDir() string {
	if dir := os.Getenv("GPUCLUSTER_JUDGE_CACHE"); dir != "" {
		return dir
	}
	return "/var/cache/gpucluster/judge"
}

// version asks the slurmctld under root for its release line; zero if there
// are not all three programs.
func version(root string) slurmconf.Version {
	for _, program := range []string{"usr/sbin/slurmctld", "usr/sbin/slurmd", "usr/bin/scontrol"} {
		if _, err := os.Stat(filepath.Join(root, program)); err != nil {
			return slurmconf.Version{}
		}
	}
	out, err := exec.Command("chroot", root, "/usr/sbin/slurmctld", "-V").Output()
	fields := strings.Fields(string(out)) // "slurm-wlm 22.05.8"
	if err != nil || len(fields) == 0 {
		return slurmconf.Version{}
	}
	v, err := slurmconf.ParseVersion(fields[len(fields)-1])
	if err != nil {
		return slurmconf.Version{}
	}
	return v
}
