package e2e

import (
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// twoUps starts a second up while the first runs: the second one says so and
// leaves everything to the first.
func twoUps(t *testing.T, c *cluster.Cluster) {
	addUser(t, c, "heidi", 20019)
	first := c.StartUp(t)
	whenPrinted(t, first, "-baseline updating")
	second := c.TryUp(t)
	if second.Err == nil {
		t.Error("a second up at the same time reports success")
	}
	wantSays(t, second, "another run is at work on "+c.Name)
	if second.Says("was killed") {
		t.Errorf("the second up takes the first for dead:\n%s", second.Output)
	}
	if run := first.Wait(t); run.Err != nil {
		t.Errorf("the first up fails: %v\n%s", run.Err, run.Trouble())
	}
	heals(t, c)
}

// killController kills the container with slurmctld and the database while a
// job runs: the job goes on, and its record is there afterwards.
func killController(t *testing.T, c *cluster.Cluster) {
	job := c.Submit(t, "alice", "-w gpu1 --gres=gpu:1 -t 10", "sleep 40")
	c.WaitRunning(t, job)
	c.StateSaved()
	c.Docker(t, "kill", c.Container(cluster.Controller))
	wantSays(t, c.Up(t), "needs repair", cluster.Controller)
	c.WaitJob(t, job, 3*time.Minute, "COMPLETED")
	heals(t, c)
}
