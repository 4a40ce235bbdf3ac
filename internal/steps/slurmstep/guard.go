package slurmstep

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// OverrideVariable, set to "yes" when an environment is destroyed, lets the
// guard pass although jobs run.
const OverrideVariable = "GPUCLUSTER_DESTROY_RUNNING_JOBS"

func overridden() bool { return os.Getenv(OverrideVariable) == "yes" }

// GuardSpec says whose jobs are guarded.
type GuardSpec struct {
	// Controllers by name.
	Controllers []string `json:"controllers"`
}

// GuardResult says that the guard stands.
type GuardResult struct {
	// Guarded is always true.
	Guarded bool `json:"guarded"`
}

func applyGuard(_ context.Context, in *step.Input) (any, error) {
	var spec GuardSpec
	return GuardResult{Guarded: true}, in.Spec(&spec)
}

// removeGuard is the first thing that a destruction does: it refuses while
// jobs run. A controller that is gone has no jobs to lose.
func removeGuard(ctx context.Context, in *step.Input) error {
	var spec GuardSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	if overridden() {
		in.Logf("%s=yes: running jobs are not waited for", OverrideVariable)
		return nil
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		in.Logf("no jobs can be asked about: %v", err)
		return nil
	}
	if err := ctl.Ping(ctx); err != nil {
		in.Logf("no jobs can be asked about: %v", err)
		return nil
	}
	jobs, err := ctl.Jobs(ctx, "RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "CONFIGURING")
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return nil
	}
	return fmt.Errorf("%d jobs are on the cluster:\n  %s\nwait for them, cancel them with scancel %s, or destroy them with the cluster by setting %s=yes",
		len(jobs), strings.Join(describe(jobs), "\n  "), strings.Join(slurmctl.IDs(jobs), ","), OverrideVariable)
}

func describe(jobs []slurmctl.Job) []string {
	lines := make([]string, len(jobs))
	for i, job := range jobs {
		lines[i] = job.Describe()
	}
	return lines
}
