package slurm_test

import (
	"slices"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// TestRemovalsKnowWhoseHostsAreTheirs checks that what takes something from a
// host can tell whether another state has the host by then.
func TestRemovalsKnowWhoseHostsAreTheirs(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	want := []string{hoststep.Baseline, hoststep.Home, slurmstep.Controller, slurmstep.Database, slurmstep.Login, slurmstep.Member}
	var seen []string
	for name, command := range r.Commands() {
		step := pulumitest.Step(command)
		if !slices.Contains(want, step) {
			continue
		}
		seen = append(seen, step)
		if got := pulumitest.Entry(command, hoststep.EnvOwner); got != `"an-owner"` {
			t.Errorf("%s works for %q", name, got)
		}
	}
	slices.Sort(want)
	slices.Sort(seen)
	if seen = slices.Compact(seen); !slices.Equal(seen, want) {
		t.Errorf("steps %q, want %q", seen, want)
	}
}
