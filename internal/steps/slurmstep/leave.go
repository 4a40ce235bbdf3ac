package slurmstep

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

const (
	// readyLimit bounds the wait for a host's slurmd to register.
	readyLimit = 90 * time.Second
	// stepsLimit bounds the wait for the last job steps of a host that leaves.
	stepsLimit = time.Minute
)

// removeMember takes what the cluster placed from the host. Its jobs have
// ended: the activation waited for them, or the guard let the destruction pass.
func removeMember(ctx context.Context, in *step.Input) error {
	var spec MemberSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	if ours, err := hoststep.StillOurs(ctx, in, session, spec.Host); err != nil || !ours {
		return err
	}
	if err := waitForSteps(ctx, in, session, spec.Host); err != nil {
		return err
	}
	return hoststep.Unplay(ctx, in, session, playbook.ComputeRemove, []string{spec.Host}, spec.Vars)
}

// waitForSteps waits until no job step has a daemon on the host. Whoever
// destroys running jobs does not wait for them.
func waitForSteps(ctx context.Context, in *step.Input, session *remote.Session, host string) error {
	if hoststep.Overridden() {
		return nil
	}
	until := time.Now().Add(stepsLimit)
	for {
		out, err := session.Run(ctx, host, slurmctl.StepsCommand, nil)
		if remote.IsGone(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("nothing was removed from %s: %w", host, err)
		}
		left := strings.TrimSpace(out)
		if left == "" {
			return nil
		}
		if time.Now().After(until) {
			return fmt.Errorf("job steps still run on %s: %s", host, strings.ReplaceAll(left, "\n", "; "))
		}
		in.Logf("waiting for the last job steps on %s", host)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(2 * time.Second):
		}
	}
}

// probeMember looks at the host's daemons and at what the controller thinks.
func probeMember(ctx context.Context, in *step.Input) error {
	var spec MemberSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := hoststep.Active(ctx, session, spec.Host, "munge", "slurmd"); err != nil {
		return err
	}
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil || ctl.Ping(ctx) != nil {
		return nil // the controller's own probe says so
	}
	nodes, err := ctl.NodesNamed(ctx, []string{spec.Host})
	if err != nil {
		return fmt.Errorf("%s is not known to the controller: %w", spec.Host, err)
	}
	closed, err := ctl.Closed(ctx, []string{spec.Host})
	if err != nil {
		return err
	}
	node := nodes[0]
	switch {
	case !node.State.Usable() && node.Reason != "" && !strings.HasPrefix(node.Reason, slurmctl.ReasonPrefix) && node.ReasonUser != "slurm":
		return nil // a person holds it
	case len(closed) > 0:
		return fmt.Errorf("%s is still closed", spec.Host)
	case node.State.Usable():
		return nil
	}
	return fmt.Errorf("%s is %s: %s", spec.Host, node.State, node.Reason)
}
