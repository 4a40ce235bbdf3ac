// Package steps lists every step that the toolkit knows.
package steps

import (
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/gatestep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kubestep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kueuestep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/labstep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/teamstep"
)

// All returns every step.
func All() step.Registry {
	return slices.Concat(
		labstep.Steps(),
		hoststep.Steps(),
		slurmstep.Steps(),
		kubestep.Steps(),
		kueuestep.Steps(),
		operatorstep.Steps(),
		teamstep.Steps(),
		step.Registry{gatestep.Step()},
	)
}
