// Package steps lists every step that the toolkit knows.
package steps

import (
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/gatestep"
)

// All returns every step.
func All() step.Registry {
	return step.Registry{
		gatestep.Step(),
	}
}
