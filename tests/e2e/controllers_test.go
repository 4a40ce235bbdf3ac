package e2e

import (
	_ "embed"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// pair is an environment of two controllers, a host with the database and the
// storage, and two GPU hosts.
//
//go:embed testdata/pair.yaml
var pair string

// TestControllers loses the first of two controllers while a job runs.
func TestControllers(t *testing.T) {
	long(t)
	t.Parallel()
	c := cluster.New(t, "pair", pair)
	runStages(t, c, []stage{
		{"up", func(t *testing.T, c *cluster.Cluster) { c.Up(t) }, true, false},
		{"up again changes nothing", func(t *testing.T, c *cluster.Cluster) { wantChanges(t, c.Up(t)) }, false, false},
		{"the second controller takes over", takeOver, true, false},
		{"up brings the first one back", func(t *testing.T, c *cluster.Cluster) {
			wantSays(t, c.Up(t), "needs repair", "ctl1")
			cluster.Until(t, "the first controller to answer", time.Minute, func() error {
				out, err := c.TryOn(t, "ctl2", "scontrol ping")
				if err == nil && !strings.Contains(out, "Slurmctld(primary) at ctl1 is UP") {
					err = errors.New(out)
				}
				return err
			})
			wantChanges(t, c.Up(t))
			worksAgain(t, c)
		}, false, false},
		{"no accepted job is lost", func(t *testing.T, c *cluster.Cluster) {
			if lost := c.LostJobs(t); len(lost) > 0 {
				t.Errorf("jobs %v were accepted and have no record", lost)
			}
		}, false, false},
		{"destroy leaves nothing", func(t *testing.T, c *cluster.Cluster) {
			c.Down(t)
			if left := c.Left(t); left != "" {
				t.Errorf("after destroy there is still:\n%s", left)
			}
		}, true, false},
	})
}

// takeOver kills the first controller. The job that runs goes on and ends, and
// the second controller accepts and runs another.
func takeOver(t *testing.T, c *cluster.Cluster) {
	running := c.Submit(t, "alice", "-w gpu1 --gres=gpu:1 -t 10", "sleep 45")
	c.WaitRunning(t, running)
	c.StateSaved()
	c.Docker(t, "kill", c.Container(cluster.Controller))
	killed := time.Now()
	cluster.Until(t, "the second controller to answer", 2*time.Minute, func() error {
		_, err := c.TryOn(t, "ctl2", "timeout 10 squeue")
		return err
	})
	t.Logf("the second controller answers %.0f s after the first was killed", time.Since(killed).Seconds())
	out, err := c.As(t, "gpu2", "alice", "timeout 60 srun -w gpu2 --gres=gpu:8 hostname")
	if err != nil || out != "gpu2" {
		t.Errorf("with the second controller a job says %q: %v", out, err)
	}
	cluster.Until(t, "the job that ran to end", 2*time.Minute, func() error {
		state, err := c.TryOn(t, "ctl2", "sacct -X -n -P -o State -j "+running)
		if err == nil && state != "COMPLETED" {
			err = errors.New(state)
		}
		return err
	})
}
