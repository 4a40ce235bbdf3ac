package e2e

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// TestReleases builds the same environment with one word changed.
func TestReleases(t *testing.T) {
	long(t)
	t.Parallel()
	for _, version := range []string{"22.05", "26.05"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := cluster.New(t, "release", small)
			c.Edit(t, `version: "24.11"`, `version: "`+version+`"`)
			r := release{version: version}
			runStages(t, c, []stage{
				{"up from nothing", r.up, true, false},
				{"a job runs over two hosts", r.job, false, false},
				{"up again changes nothing", r.again, false, false},
				{"a host comes in while a job runs", r.grow, false, false},
				{"destroy leaves nothing", r.down, true, false},
			})
		})
	}
}

type release struct{ version string }

func (r release) up(t *testing.T, c *cluster.Cluster) {
	run := c.Up(t)
	wantSays(t, run, "smoke job: ready")
	if got := c.Slurm(t, "sinfo -V"); !strings.HasPrefix(got, "slurm-wlm "+r.version) && !strings.HasPrefix(got, "slurm "+r.version) {
		t.Errorf("the release is %q, want %s", got, r.version)
	}
}

func (r release) job(t *testing.T, c *cluster.Cluster) {
	id := c.Submit(t, "alice", "-N2 --gres=gpu:2 -o both.out", `srun sh -c 'echo $(hostname) $(id -u) $(nvidia-smi -L 2>/dev/null | grep -c "^GPU ")'`)
	if job := c.WaitJob(t, id, 2*time.Minute, "COMPLETED", "FAILED"); job.State != "COMPLETED" || job.Nodes != "gpu[1-2]" {
		t.Errorf("the job ended as %+v", job)
	}
	out := c.On(t, cluster.Controller, "sort /home/alice/both.out")
	if want := "gpu1 20001 2\ngpu2 20001 2"; out != want {
		t.Errorf("the job says\n%s\nwant\n%s", out, want)
	}
}

func (r release) again(t *testing.T, c *cluster.Cluster) {
	wantChanges(t, c.Up(t))
}

// grow adds a host. 22.05 learns of nodes only when its daemons start; from
// 24.11 they stay as they are.
func (r release) grow(t *testing.T, c *cluster.Cluster) {
	job := c.Submit(t, "alice", "-w gpu1 --gres=gpu:1 -t 1:00:00", "sleep 3600")
	c.WaitRunning(t, job)
	c.Edit(t,
		"names: gpu[1-2] # all", "names: gpu[1-3] # all",
		"hosts: gpu1 # under leaf1", "hosts: gpu[1,3] # under leaf1",
		"hosts: gpu[1-2] # of train", "hosts: gpu[1-3] # of train",
	)
	restarts := r.version == "22.05"
	if plan := c.Preview(t); restarts {
		wantSays(t, plan, "restart", "gpu[1-2]")
	}
	before := c.Starts(t, "slurmd", "gpu1", "gpu2")
	touched := []string{"create gpu3-host", "create gpu3-baseline", "create gpu3-home", "create gpu3", "update controller", "update gate"}
	if restarts {
		touched = append(touched, "update gpu1", "update gpu2")
	}
	wantChanges(t, c.Up(t), touched...)
	after := c.Starts(t, "slurmd", "gpu1", "gpu2")
	for i := range before {
		if (before[i] != after[i]) != restarts {
			t.Errorf("slurmd was %s before and is %s now; a restart is expected: %v", before[i], after[i], restarts)
		}
	}
	if got := c.WaitRunning(t, job); got != "gpu1" {
		t.Errorf("the job runs on %s, want gpu1", got)
	}
	next := c.Submit(t, "bob", "-w gpu3 --gres=gpu:8", "hostname")
	c.WaitJob(t, next, 2*time.Minute, "COMPLETED")
	firstIsOurs(t, c, "gpu3", next)
	wantChanges(t, c.Up(t))
	c.Slurm(t, "scancel "+job)
	c.WaitJob(t, job, time.Minute, "CANCELLED by 0")
	cluster.Until(t, "the job to leave its host", time.Minute, func() error {
		if left := c.Slurm(t, "squeue -h"); left != "" {
			return errors.New(left)
		}
		return nil
	})
}

func (r release) down(t *testing.T, c *cluster.Cluster) {
	if lost := c.LostJobs(t); len(lost) > 0 {
		t.Errorf("jobs %v were accepted and have no record", lost)
	}
	c.Down(t)
	if left := c.Left(t); left != "" {
		t.Errorf("after destroy there is still:\n%s", left)
	}
}
