package slurmstep

import (
	"context"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// TestSmokeWaits checks what becomes of a smoke job that is not run in time.
func TestSmokeWaits(t *testing.T) {
	const (
		queued = `echo "srun: job 9 queued and waiting for resources" >&2; exit 124`
		stuck  = `echo "srun: job 9 queued and waiting for resources
srun: job 9 has been allocated resources" >&2; exit 124`
	)
	for name, c := range map[string]struct {
		srun, squeue string
		status       step.Status
		says         string
	}{
		"others hold the hosts": {queued, running, step.StatusReady, "put off"},
		"nobody holds them":     {queued, idle, step.StatusQuarantined, "waiting for resources"},
		"it began and hung":     {stuck, running, step.StatusQuarantined, "did not end"},
		"it failed":             {`echo "srun: error: boom" >&2; exit 1`, running, step.StatusQuarantined, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			s := hosts(t, map[string]string{"timeout": c.srun, "squeue": c.squeue, "scancel": "true", "scontrol": up})
			result, err := applySmoke(context.Background(), s.input(t, SmokeSpec{
				Controllers: []string{"ctl1"}, Version: "24.11", Partition: "train", Hosts: 2, Gres: "gpu:h100:8",
			}, "ctl1"))
			if err != nil {
				t.Fatal(err)
			}
			outcome := result.(step.Outcome)
			if outcome.Status != c.status || !strings.Contains(outcome.Detail+outcome.Reason, c.says) {
				t.Errorf("the outcome is %+v, want %s that says %q", outcome, c.status, c.says)
			}
		})
	}
}
