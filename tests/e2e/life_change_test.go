package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// files are the digests of the configuration that slurmctld reads.
func files(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	return c.Slurm(t, "cd /etc/slurm && sha256sum $(find . -type f | sort)")
}

func (l *life) deadline(t *testing.T, c *cluster.Cluster) {
	job := c.Submit(t, "bob", "-w gpu3 --gres=gpu:1 -t 1:00:00", "sleep 3600")
	c.WaitRunning(t, job)
	before, daemonsBefore := files(t, c), daemons(t, c)
	whole := c.Content(t)
	c.Edit(t,
		"drainDeadline: 10m", "drainDeadline: 15s",
		"names: gpu[1-3] # all", "names: gpu[1-2] # all",
		"hosts: gpu[1,3] # under leaf1", "hosts: gpu1 # under leaf1",
		"hosts: gpu[1-3] # of train", "hosts: gpu[1-2] # of train",
	)
	run := c.TryUp(t)
	if run.Err == nil {
		t.Fatal("up succeeds although a job runs on the host that leaves")
	}
	wantSays(t, run, "nothing of Slurm has changed", "the choices", "scancel "+job, "drainDeadline")
	if node := c.Node(t, "gpu3"); !strings.HasPrefix(node, "mixed") {
		t.Errorf("after the deadline gpu3 is %q, want it to take jobs", node)
	}
	if after := files(t, c); after != before {
		t.Errorf("files changed:\n%s\nbefore:\n%s", after, before)
	}
	if after := daemons(t, c); after != daemonsBefore {
		t.Errorf("daemons were restarted:\n%s\nbefore:\n%s", after, daemonsBefore)
	}
	c.WaitRunning(t, job)

	// One choice is to put the file back: then there is nothing to do.
	less := c.Content(t)
	c.Restore(t, whole)
	wantChanges(t, c.Up(t))
	// Another is to end the job: then the host leaves.
	c.Restore(t, less)
	c.Edit(t, "drainDeadline: 15s", "drainDeadline: 10m")
	c.Slurm(t, "scancel "+job)
	c.WaitJob(t, job, time.Minute, "CANCELLED", "CANCELLED by 0")
	c.Up(t)
	gone(t, c, "gpu3")
}

func (l *life) reshape(t *testing.T, c *cluster.Cluster) {
	c.Edit(t, `      - names: gpu[1-2] # all
        profile: h100x8
`, `      - names: gpu1
        profile: h100x8
        roles: [compute]
      - names: gpu2
        profile: h100x4
`)
	plan := c.Preview(t)
	wantSays(t, plan, "drain", "gpu2", "restart")
	ctld := c.Starts(t, "slurmctld", cluster.Controller)
	other := c.Starts(t, "slurmd", "gpu1")
	run := upUnderJob(t, c, "gpu2")
	wantChanges(t, run, "update gpu2-host", "update gpu2-baseline", "update controller", "update gpu2", "update smoke")
	if got := c.Slurm(t, "sinfo -h -N -n gpu2 -o '%T %G' | sort -u"); got != "idle gpu:h100:4" {
		t.Errorf("gpu2 is %q, want idle with 4 GPUs", got)
	}
	if after := c.Starts(t, "slurmd", "gpu1"); after[0] != other[0] {
		t.Errorf("slurmd of gpu1 was restarted")
	}
	if after := c.Starts(t, "slurmctld", cluster.Controller); after[0] != ctld[0] {
		t.Errorf("slurmctld was restarted")
	}
	next := c.Submit(t, "bob", "-w gpu2 --gres=gpu:4 -t 5", "test $(nvidia-smi -L | grep -c '^GPU ') = 4")
	c.WaitJob(t, next, time.Minute, "COMPLETED")
}

func (l *life) dismiss(t *testing.T, c *cluster.Cluster) {
	c.Slurm(t, "sacctmgr -i add account visitors >/dev/null && sacctmgr -i add user carol account=visitors >/dev/null")
	c.Edit(t, `        - name: product
          fairShare: 30
          qos: [normal]
          defaultQos: normal
`, "", `        - user: bob
          account: product
          limits:
            maxJobs: 4
`, "")
	run := c.Up(t)
	wantChanges(t, run, "update accounting")
	have := c.Slurm(t, "sacctmgr -n -P show assoc cluster="+clusterName(t, c)+" format=Account,User")
	wantLines(t, have, "research|alice", "visitors|", "visitors|carol")
	for line := range strings.Lines(have) {
		if strings.HasPrefix(line, "product|") {
			t.Errorf("what left the file is still there: %s", line)
		}
	}
	if out := c.Slurm(t, "sacctmgr -n -P show user bob"); out != "" {
		t.Errorf("bob is still a user: %s", out)
	}
	if _, err := c.TrySubmit(t, "bob", "", "true"); err == nil {
		t.Error("a job of a user who left is accepted")
	}
	wantChanges(t, c.Up(t))
}
