package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// probe is a job script that tells who runs it and what it may open: a device
// of its own answers ENXIO, since nothing is behind it, another's EPERM.
const probe = `id -u
echo "asked for $SLURM_GPUS_ON_NODE, devices $CUDA_VISIBLE_DEVICES"
nvidia-smi -L 2>/dev/null | grep -c "^GPU "
for device in 0 1 2 3 4 5 6 7; do
  python3 -c 'import os, sys
try:
    os.open(sys.argv[1], os.O_RDWR)
except PermissionError:
    print("denied")
except OSError:
    print("allowed")' /dev/nvidia$device
done | sort | uniq -c | tr -s " "`

func (l *life) job(t *testing.T, c *cluster.Cluster) {
	id := c.Submit(t, "alice", "-o job.out --gres=gpu:3", probe)
	job := c.WaitJob(t, id, 2*time.Minute, "COMPLETED", "FAILED")
	if job.State != "COMPLETED" || job.User != "alice" || job.Account != "research" || job.QOS != "normal" {
		t.Errorf("the record is %+v, want a completed job of alice, research, normal", job)
	}
	// The output is read on another host than the one that wrote it.
	out := c.On(t, cluster.Controller, "stat -c %u /home/alice/job.out; cat /home/alice/job.out")
	want := "20001\n20001\nasked for 3, devices 0,1,2\n3\n 3 allowed\n 5 denied"
	if out != want {
		t.Errorf("the job says\n%s\nwant\n%s", out, want)
	}
}

func (l *life) stranger(t *testing.T, c *cluster.Cluster) {
	_, err := c.TrySubmit(t, "carol", "", "true")
	if err == nil {
		t.Fatal("a job of a user without account is accepted")
	}
	if !strings.Contains(err.Error(), "Invalid account") {
		t.Errorf("the refusal is %v, want one about the account", err)
	}
}
