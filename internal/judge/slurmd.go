package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// GRES asks slurmd what it makes of gres.conf as one of the nodes ("slurmd
// -G"): its output, and whether it ended well. The device files that the set
// names are made as character devices in a /dev of the trial's own; missing
// names those that are left out.
func (j *Judge) GRES(t testing.TB, set slurmconf.FileSet, node string, missing ...string) (output string, ok bool) {
	t.Helper()
	dir := j.tempDir(t)
	files, err := trial(set, place{dir: inRoot(j.Root, dir), host: shortHostname(t), noCgroups: true})
	if err != nil {
		t.Fatal(err)
	}
	writeFiles(t, dir, files)
	if err := os.MkdirAll(filepath.Join(dir, "spool"), 0o755); err != nil {
		t.Fatal(err)
	}
	setup := makeDevices(filepath.Join(j.Root, "dev"), missing)
	cmd := j.command(setup, "/usr/sbin/slurmd", "-G", "-f", filepath.Join(inRoot(j.Root, dir), "slurm.conf"), "-N", node)
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// makeDevices is shell text that mounts an empty /dev over dev, in the trial's
// own mount namespace, with the usual devices and sixteen GPUs.
func makeDevices(dev string, missing []string) string {
	var b strings.Builder
	q := "'" + strings.ReplaceAll(dev, "'", `'\''`) + "'"
	fmt.Fprintf(&b, "mount -t tmpfs none %s && ", q)
	left := map[string]bool{}
	for _, m := range missing {
		left[m] = true
	}
	add := func(name, numbers string) {
		if !left["/dev/"+name] {
			fmt.Fprintf(&b, "mknod -m 666 %s/%s c %s && ", q, name, numbers)
		}
	}
	add("null", "1 3")
	add("zero", "1 5")
	add("urandom", "1 9")
	add("random", "1 8")
	for i := range 16 {
		add(fmt.Sprintf("nvidia%d", i), fmt.Sprintf("195 %d", i))
	}
	fmt.Fprintf(&b, "mkdir %s/nvidia-caps && ", q)
	add("nvidia-caps/nvidia-cap21", "236 21")
	add("nvidia-caps/nvidia-cap22", "236 22")
	return b.String()
}
