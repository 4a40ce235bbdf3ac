package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/accounting"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// AccountingSpec says which accounts, users and QOS the cluster has.
type AccountingSpec struct {
	// Controllers by name.
	Controllers []string `json:"controllers"`
	// Deadline bounds the wait for jobs of users who go, as a Go duration.
	Deadline string `json:"deadline"`
	// Desired is what the accounting database is to hold.
	Desired accounting.Desired `json:"desired"`
}

// AccountingResult is what the database holds besides.
type AccountingResult struct {
	// Reports are about what is not ours; it is left alone.
	Reports []string `json:"reports"`
}

func applyAccounting(ctx context.Context, in *step.Input) (any, error) {
	var spec AccountingSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	deadline, err := time.ParseDuration(spec.Deadline)
	if err != nil {
		return nil, fmt.Errorf("reading the deadline: %w", err)
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		return nil, err
	}
	result, err := accounting.Apply(ctx, ctl, spec.Desired, accounting.Options{Deadline: deadline, Keepers: keepers(session, spec.Controllers)})
	var used *accounting.StillUsed
	if errors.As(err, &used) {
		return nil, fmt.Errorf("%w\nthey can submit no more; all other changes are made; the choices, with commands on %s:\n  - %s", err, spec.Controllers[0], strings.Join(used.Choices(), "\n  - "))
	}
	if err != nil {
		return nil, err
	}
	return AccountingResult{Reports: append([]string{}, result.Reports...)}, nil
}

// probeAccounting asks for repair where the database has drifted from what was
// declared.
func probeAccounting(ctx context.Context, in *step.Input) error {
	var spec AccountingSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil || ctl.Ping(ctx) != nil {
		return nil // the controller's own probe says so
	}
	return accounting.Drift(ctx, ctl, keepers(session, spec.Controllers), spec.Desired)
}

// keepers are the controllers, on which the ledger of accounting lies.
func keepers(session *remote.Session, controllers []string) accounting.Keepers {
	var all accounting.Keepers
	for _, host := range controllers {
		all = append(all, session.Runner(host))
	}
	return all
}
