package slurmstep

import (
	"context"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestSmokeIsPutOff checks that the job is not waited for where too few hosts
// could take it, and that one that may answer in a moment is.
func TestSmokeIsPutOff(t *testing.T) {
	node := func(name, state, reason string) string {
		return "echo 'NodeName=" + name + " State=" + state + " Partitions=train Reason=" + reason + "';"
	}
	const ours, theirs = "gpucluster: quarantined: no disk [root@2026-01-02T03:04:05]", "fan [root@2026-01-02T03:04:05]"
	for name, c := range map[string]struct {
		nodes  string
		status step.Status // empty: the job is submitted
		says   string
	}{
		"a host is in quarantine":     {node("gpu1", "IDLE", "") + node("gpu2", "IDLE+DRAIN", ours), step.StatusQuarantined, "gpu2 is drained: gpucluster: quarantined: no disk"},
		"a person holds a host":       {node("gpu1", "IDLE", "") + node("gpu2", "IDLE+DRAIN", theirs), step.StatusReady, "put off"},
		"Slurm drained a host":        {node("gpu1", "IDLE", "") + node("gpu2", "IDLE+DRAIN", "Kill task failed [slurm@2026-01-02T03:04:05]"), step.StatusQuarantined, "Kill task failed"},
		"enough others are there":     {node("gpu1", "IDLE", "") + node("gpu2", "IDLE+DRAIN", ours) + node("gpu3", "MIXED", ""), "", ""},
		"a host has yet to answer":    {node("gpu1", "IDLE", "") + node("gpu2", "IDLE*", ""), "", ""},
		"the drain is of another one": {node("gpu1", "IDLE", "") + node("gpu2", "IDLE", "") + "echo 'NodeName=cpu1 State=IDLE+DRAIN Partitions=other Reason=" + ours + "'", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"timeout": "exit 1", "squeue": idle, "scancel": "true", "scontrol": `case "$*" in
ping) echo "Slurmctld(primary) at ctl1 is UP" ;;
*node*) ` + c.nodes + ` ;;
esac`})
			result, err := applySmoke(context.Background(), s.Input(t, SmokeSpec{Controllers: []string{"ctl1"}, Partition: "train", Hosts: 2}, "ctl1"))
			if err != nil {
				t.Fatal(err)
			}
			if submitted := strings.Contains(s.Asked(), "srun"); submitted != (c.status == "") {
				t.Errorf("the job was submitted: %v", submitted)
			}
			outcome := result.(step.Outcome)
			if c.status != "" && (outcome.Status != c.status || !strings.Contains(outcome.Detail+outcome.Reason, c.says)) {
				t.Errorf("the outcome is %+v, want %s that says %q", outcome, c.status, c.says)
			}
		})
	}
}

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
			s := steptest.New(t, map[string]string{"timeout": c.srun, "squeue": c.squeue, "scancel": "true", "scontrol": up})
			result, err := applySmoke(context.Background(), s.Input(t, SmokeSpec{
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
