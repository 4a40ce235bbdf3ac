package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
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
	// Lab tells that the controllers are containers on the deployer: one that
	// cannot be reached is gone. Another host that cannot be reached may be at
	// work beyond a network that is down.
	Lab bool `json:"lab,omitempty"`
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
// there are jobs, and while nobody can tell. Only a lab whose controllers are
// gone has no jobs to lose.
func removeGuard(ctx context.Context, in *step.Input) error {
	var spec GuardSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	if overridden() {
		in.Logf("%s=yes: jobs are not waited for", OverrideVariable)
		return nil
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	host, err := controllerThere(ctx, session, spec.Controllers)
	if err != nil {
		return fmt.Errorf("nobody can tell whether jobs run, and nothing was removed: %w\nmake the controller answer and run it again, or destroy all jobs with the cluster by setting %s=yes", err, OverrideVariable)
	}
	if host == "" && !spec.Lab {
		return fmt.Errorf("%s cannot be reached, so nobody can tell whether jobs run, and nothing was removed\n"+
			"if the way there is down (a network, a VPN), mend it and run this again; if the hosts are gone, say so by setting %s=yes",
			strings.Join(spec.Controllers, ", "), OverrideVariable)
	}
	if host == "" {
		in.Logf("no jobs are asked about: %s is gone", strings.Join(spec.Controllers, ", "))
		return nil
	}
	ctl := &slurmctl.Client{Runner: session.Runner(host)}
	if err := ctl.Ping(ctx); err != nil {
		return fmt.Errorf("slurmctld does not answer on %s, so nobody can tell whether jobs run, and nothing was removed: %w\nstart it and run this again, or destroy all jobs with the cluster by setting %s=yes", host, err, OverrideVariable)
	}
	jobs, err := ctl.Jobs(ctx)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return nil
	}
	return fmt.Errorf("jobs are on the cluster (%d), and nothing was removed:\n  %s\nwait for them, cancel them on %s with scancel %s, or destroy them with the cluster by setting %s=yes",
		len(jobs), strings.Join(describe(jobs), "\n  "), host, strings.Join(slurmctl.IDs(jobs), ","), OverrideVariable)
}

// controllerThere is the first controller that can be asked; "" when all are
// gone. Where none can be asked but one may be at work, it is an error.
func controllerThere(ctx context.Context, session *remote.Session, controllers []string) (string, error) {
	var problems []error
	for _, host := range controllers {
		there, err := session.There(ctx, host)
		if there {
			return host, nil
		}
		problems = append(problems, err)
	}
	return "", errors.Join(problems...)
}

func describe(jobs []slurmctl.Job) []string {
	lines := make([]string, len(jobs))
	for i, job := range jobs {
		lines[i] = job.Describe()
	}
	return lines
}
