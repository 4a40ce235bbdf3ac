package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

const newLimit = "maxTime: 00:20:00"

// preview runs where there is no network at all, with recorders in the place
// of the programs that reach hosts.
func (l *life) preview(t *testing.T, c *cluster.Cluster) {
	c.Edit(t, "maxTime: 00:30:00", newLimit)
	dir, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	for _, program := range []string{"ssh", "scp", "sftp", "ansible", "ansible-playbook", "docker"} {
		script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\nexit 1\n", calls)
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Pulumi's own parts talk to each other over the loopback device.
	alone := []string{"unshare", "--net", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	run := c.Wrapped(t, alone, "PATH="+dir+":"+os.Getenv("PATH"))
	if made, err := os.ReadFile(calls); err == nil {
		t.Errorf("preview called:\n%s", made)
	}
	wantChanges(t, run, "update controller")
	wantSays(t, run,
		"- PartitionName=debug Nodes=gpu[1-2] MaxTime=00:30:00 MaxNodes=2 PriorityTier=10",
		"+ PartitionName=debug Nodes=gpu[1-2] MaxTime=00:20:00 MaxNodes=2 PriorityTier=10",
		"reconfigure", "ctl1")
}

func (l *life) limit(t *testing.T, c *cluster.Cluster) {
	before := daemons(t, c)
	wantChanges(t, c.Up(t), "update controller")
	if after := daemons(t, c); after != before {
		t.Errorf("daemons were restarted:\n%s\nbefore:\n%s", after, before)
	}
	wantLines(t, c.Slurm(t, "sinfo -h -p debug -o '%P %l'"), "debug 20:00")
}

// daemons tells in which start each daemon of the cluster is.
func daemons(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	all := c.Starts(t, "slurmctld", cluster.Controller)
	all = append(all, c.Starts(t, "slurmdbd", cluster.Controller)...)
	all = append(all, c.Starts(t, "slurmd", "gpu1", "gpu2")...)
	all = append(all, c.Starts(t, "munge", cluster.Controller, "gpu1", "gpu2")...)
	return strings.Join(all, "\n")
}
