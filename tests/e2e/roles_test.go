package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// TestRoles builds a cluster with a host that is both a compute host and a login
// host, and makes another one that too, then only a login host, and a compute
// host again. 22.05 has no sackd.
func TestRoles(t *testing.T) {
	long(t)
	t.Parallel()
	for _, version := range []string{"24.11", "22.05"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t, "roles", small)
			c.Edit(t,
				`version: "24.11"`, `version: "`+version+`"`,
				"names: gpu[1-2] # all\n        profile: h100x8\n        roles: [compute]",
				"names: gpu1\n        profile: h100x8\n        roles: [compute, login]\n"+
					"      - names: gpu2\n        profile: h100x8\n        roles: [compute] # of gpu2",
			)
			runStages(t, c, []stage{
				{"up", func(t *testing.T, c *cluster.Cluster) { c.Up(t) }, true, false},
				{"a compute host becomes a login host too", bothRoles, false, false},
				{"it computes no longer", onlyLogin, false, false},
				{"it becomes a compute host again", onlyCompute, false, false},
				{"destroy", func(t *testing.T, c *cluster.Cluster) { c.Down(t) }, false, false},
			})
		})
	}
}

// withRole brings gpu2 to what the file says now, at once and for good.
func withRole(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	c.Up(t)
	wantChanges(t, c.Up(t))
	if left := nodesNot(t, c, "idle"); left != "" {
		t.Errorf("not every host is idle:\n%s", left)
	}
}

// submits runs a job as a person on gpu2 does.
func submits(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	if out, err := c.As(t, "gpu2", "alice", "srun -w gpu1 --gres=gpu:1 -t 1 hostname"); err != nil || strings.TrimSpace(out) != "gpu1" {
		t.Errorf("a job submitted on gpu2 says %q, %v", out, err)
	}
}

func bothRoles(t *testing.T, c *cluster.Cluster) {
	c.Edit(t, "roles: [compute] # of gpu2", "roles: [compute, login] # of gpu2")
	withRole(t, c)
	submits(t, c)
}

func onlyLogin(t *testing.T, c *cluster.Cluster) {
	c.Edit(t,
		"roles: [compute, login] # of gpu2", "roles: [login] # of gpu2",
		"        - name: leaf2\n          hosts: gpu2 # under leaf2\n", "",
		"switches: leaf[1-2]", "switches: leaf1",
		"hosts: gpu[1-2] # of train", "hosts: gpu1 # of train",
		"hosts: gpu[1-2] # of debug", "hosts: gpu1 # of debug",
	)
	withRole(t, c)
	submits(t, c)
}

func onlyCompute(t *testing.T, c *cluster.Cluster) {
	c.Edit(t,
		"roles: [login] # of gpu2", "roles: [compute] # of gpu2",
		"switches: leaf1", "switches: leaf[1-2]",
		"        - name: spine1", "        - name: leaf2\n          hosts: gpu2\n        - name: spine1",
		"hosts: gpu1 # of train", "hosts: gpu[1-2] # of train",
		"hosts: gpu1 # of debug", "hosts: gpu[1-2] # of debug",
	)
	withRole(t, c)
	id := c.Submit(t, "alice", "-w gpu2 --gres=gpu:8 -t 5", "hostname")
	if job := c.WaitJob(t, id, 2*time.Minute, "COMPLETED", "FAILED"); job.State != "COMPLETED" {
		t.Errorf("a job on gpu2 ended as %+v", job)
	}
}
