package judge

import (
	"os"
	"path/filepath"
	"testing"
)

// Read lets a client command read files with a slurm.conf among them, as every
// client does, and returns what it says of them: nothing where all is well. No
// daemon is needed, and none is reached.
func (j *Judge) Read(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := j.tempDir(t)
	writeFiles(t, dir, files)
	cmd := j.command("", "/usr/bin/scontrol", "show", "hostnames", "reads-it")
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(inRoot(j.Root, dir), "slurm.conf"))
	out, _ := cmd.CombinedOutput() // a refusal is an answer
	if string(out) == "reads-it\n" {
		return ""
	}
	return string(out)
}

// Scontrol runs one of scontrol's commands that need no daemon, such as "show
// hostnames", and returns its output and whether it ended well.
func (j *Judge) Scontrol(t testing.TB, args ...string) (string, bool) {
	t.Helper()
	dir := j.tempDir(t)
	writeFiles(t, dir, map[string]string{"slurm.conf": "ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1\nPartitionName=p Nodes=n1\n"})
	cmd := j.command("", append([]string{"/usr/bin/scontrol"}, args...)...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+filepath.Join(inRoot(j.Root, dir), "slurm.conf"))
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}
