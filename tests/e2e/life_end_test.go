package e2e

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

func (l *life) refuse(t *testing.T, c *cluster.Cluster) {
	if lost := c.LostJobs(t); len(lost) > 0 {
		t.Errorf("jobs %v were accepted and have no record", lost)
	}
	run := c.TryDown(t)
	if run.Err == nil {
		t.Fatal("destroy goes on although a job runs")
	}
	wantSays(t, run, "jobs are on the cluster", "scancel "+longJob(t, c), "GPUCLUSTER_DESTROY_RUNNING_JOBS=yes")
	// A dash after the state says that the scheduler has plans for the rest of the host.
	if left := nodesNot(t, c, "idle"); strings.Replace(left, "mixed-", "mixed", 1) != "gpu1 mixed none" {
		t.Errorf("after the refusal these hosts are not idle:\n%s", left)
	}
}

// down works from the state and the installed toolkit alone.
func (l *life) down(t *testing.T, c *cluster.Cluster) {
	first := c.Checkout
	c.Checkout = first.CloneWithTools(t)
	defer func() { c.Checkout = first }()
	c.Down(t, "GPUCLUSTER_DESTROY_RUNNING_JOBS=yes")
	if left := c.Left(t); left != "" {
		t.Errorf("after destroy there is still:\n%s", left)
	}
	if status := c.Checkout.Status(t); status != "" {
		t.Errorf("after destroy git says in the clone:\n%s", status)
	}
}
