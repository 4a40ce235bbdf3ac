package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// rename gives a partition another name while a job runs in it and one waits.
func (l *life) rename(t *testing.T, c *cluster.Cluster) {
	runs := c.Submit(t, "bob", "-p debug -w gpu2 --gres=gpu:4 -t 5", "sleep 30")
	c.WaitRunning(t, runs)
	waits := c.Submit(t, "bob", "-p debug -w gpu2 --gres=gpu:4 -t 5", "sleep 1")
	c.Edit(t, "- name: debug\n", "- name: quick\n")
	wantSays(t, c.Preview(t), "partition debug removed", "wait for the partition's jobs")
	wantChanges(t, c.Up(t), "update controller")
	for _, job := range []string{runs, waits} {
		if ended := c.WaitJob(t, job, time.Minute, "COMPLETED", "NODE_FAIL", "FAILED", "CANCELLED"); ended.State != "COMPLETED" {
			t.Errorf("job %s of the partition that went ended as %+v", job, ended)
		}
	}
	if got := strings.Fields(c.Slurm(t, "sinfo -h -o '%R %a'")); strings.Join(got, " ") != "train up quick up" {
		t.Errorf("partitions are %q", got)
	}
	wantChanges(t, c.Up(t))
}

// devices gives a host's GPUs other device files: only gres.conf tells of it.
func (l *life) devices(t *testing.T, c *cluster.Cluster) {
	c.Edit(t, `          - type: h100
            count: 4
`, `          - type: h100
            count: 4
            firstDevice: 4
`)
	wantSays(t, c.Preview(t), "gres.conf", "drain", "gpu2")
	before, other := c.Starts(t, "slurmd", "gpu2"), c.Starts(t, "slurmd", "gpu1")
	wantChanges(t, upUnderJob(t, c, "gpu2"), "update gpu2-host", "update gpu2-baseline", "update controller", "update gpu2")
	if after := c.Starts(t, "slurmd", "gpu2"); after[0] == before[0] {
		t.Error("slurmd of gpu2 was not restarted")
	}
	if after := c.Starts(t, "slurmd", "gpu1"); after[0] != other[0] {
		t.Error("slurmd of gpu1 was restarted")
	}
	if got := c.Slurm(t, "sinfo -h -N -n gpu2 -o '%T %G' | sort -u"); got != "idle gpu:h100:4" {
		t.Errorf("gpu2 is %q, want idle with 4 GPUs", got)
	}
	next := c.Submit(t, "bob", "-w gpu2 --gres=gpu:4 -t 5", "test $(nvidia-smi -L | grep -c '^GPU ') = 4")
	c.WaitJob(t, next, time.Minute, "COMPLETED")
	wantChanges(t, c.Up(t))
}
