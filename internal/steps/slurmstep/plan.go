package slurmstep

import (
	"context"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// planOf compares the files that the primary controller has with the new
// ones: what the preview told from the state is told here from the host.
func planOf(ctx context.Context, session *remote.Session, spec ControllerSpec) (impact.Plan, error) {
	version, err := slurmconf.ParseVersion(spec.Version)
	if err != nil {
		return impact.Plan{}, err
	}
	live := map[string]string{}
	for _, name := range sortedKeys(spec.Files) {
		content, err := session.Run(ctx, spec.Controllers[0], "cat "+configDir+"/"+name+" 2>/dev/null || true", nil)
		if err != nil {
			return impact.Plan{}, err
		}
		if content != "" {
			live[name] = content
		}
	}
	plan, err := impact.Compare(
		impact.Set{Version: version, Files: live}, impact.Set{Version: version, Files: spec.Files})
	if err != nil {
		return impact.Plan{}, fmt.Errorf("comparing with the files of %s: %w", spec.Controllers[0], err)
	}
	return plan, nil
}
