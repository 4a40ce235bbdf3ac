package labstep

import (
	"context"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// applyArtifacts has no removal of its own: the server goes with the network.
func applyArtifacts(ctx context.Context, in *step.Input) (any, error) {
	var spec lab.ArtifactsSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	engine, err := lab.EnsureEngine(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	return engine.EnsureArtifacts(ctx, spec)
}

func probeArtifacts(ctx context.Context, in *step.Input) error {
	var spec lab.ArtifactsSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	engine, err := lab.FindEngine(ctx, in.Log)
	if err != nil {
		return err
	}
	return engine.ProbeArtifacts(ctx, spec.Lab)
}
