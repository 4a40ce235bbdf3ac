package slurmstep

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

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
	if hoststep.Overridden() {
		in.Logf("%s=yes: jobs are not waited for", hoststep.OverrideVariable)
		return nil
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	host, err := hoststep.FirstThere(ctx, session, spec.Controllers)
	if err != nil {
		return fmt.Errorf("nobody can tell whether jobs run, and nothing was removed: %w\nmake the controller answer and run it again, or destroy all jobs with the cluster by setting %s=yes", err, hoststep.OverrideVariable)
	}
	if host == "" && !spec.Lab {
		return fmt.Errorf("%s cannot be reached, so nobody can tell whether jobs run, and nothing was removed\n"+
			"if the way there is down (a network, a VPN), mend it and run this again; if the hosts are gone, say so by setting %s=yes",
			strings.Join(spec.Controllers, ", "), hoststep.OverrideVariable)
	}
	if host == "" {
		in.Logf("no jobs are asked about: %s is gone", strings.Join(spec.Controllers, ", "))
		return nil
	}
	ctl := &slurmctl.Client{Runner: session.Runner(host)}
	if err := ctl.Ping(ctx); err != nil {
		return fmt.Errorf("slurmctld does not answer on %s, so nobody can tell whether jobs run, and nothing was removed: %w\nstart it and run this again, or destroy all jobs with the cluster by setting %s=yes", host, err, hoststep.OverrideVariable)
	}
	jobs, err := ctl.Jobs(ctx)
	if err != nil {
		return err
	}
	if len(jobs) == 0 {
		return nil
	}
	return fmt.Errorf("jobs are on the cluster (%d), and nothing was removed:\n  %s\nwait for them, cancel them on %s with scancel %s, or destroy them with the cluster by setting %s=yes",
		len(jobs), strings.Join(describe(jobs), "\n  "), host, strings.Join(slurmctl.IDs(jobs), ","), hoststep.OverrideVariable)
}

func describe(jobs []slurmctl.Job) []string {
	lines := make([]string, len(jobs))
	for i, job := range jobs {
		lines[i] = job.Describe()
	}
	return lines
}
