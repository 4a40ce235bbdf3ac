package accounting

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// Drift is an error that lists where the database differs from what was
// declared, or nil. It changes nothing.
func Drift(ctx context.Context, ctl *slurmctl.Client, keepers Keepers, desired Desired) error {
	owned, err := ReadLedger(ctx, keepers, desired.Cluster)
	if err != nil {
		return err
	}
	observed, err := Observe(ctx, ctl.Runner, desired.Cluster)
	if err != nil {
		return err
	}
	plan, err := Diff(desired, observed, owned)
	if err != nil {
		return err
	}
	var differs []string
	for _, c := range plan.Commands {
		differs = append(differs, c.Comment)
	}
	for _, r := range plan.Removals {
		differs = append(differs, r.Delete.Comment)
	}
	if len(differs) == 0 {
		return nil
	}
	return fmt.Errorf("the accounting database differs from what is declared: %s", strings.Join(differs, "; "))
}
