package slurmstep

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// placed are the files of the new set's names that the controllers have now: of
// the first that has a slurm.conf, since the list may begin with a new one. None
// at all: nothing was activated yet.
func placed(ctx context.Context, session *remote.Session, spec ControllerSpec) (map[string]string, error) {
	for _, host := range spec.Controllers {
		files := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(spec.Files)) {
			content, err := session.Run(ctx, host, "cat "+configDir+"/"+name+" 2>/dev/null || true", nil)
			if err != nil {
				return nil, err
			}
			if content != "" {
				files[name] = content
			}
		}
		if files["slurm.conf"] != "" {
			return files, nil
		}
	}
	return nil, nil
}

// planOf compares the files that the controllers have with the new ones: what
// the preview told from the state is told here from the host.
func planOf(files map[string]string, spec ControllerSpec) (impact.Plan, error) {
	version, err := slurmconf.ParseVersion(spec.Version)
	if err != nil {
		return impact.Plan{}, err
	}
	plan, err := impact.Compare(
		impact.Set{Version: version, Files: files}, impact.Set{Version: version, Files: spec.Files})
	if err != nil {
		return impact.Plan{}, fmt.Errorf("comparing with the files of the controllers: %w", err)
	}
	return plan, nil
}

// stateMove says whether slurmctld's state has to move.
func stateMove(files map[string]string, spec ControllerSpec) slurmctl.StateMove {
	from, to := stateDir(files["slurm.conf"]), stateDir(spec.Files["slurm.conf"])
	if files["slurm.conf"] == "" || path.Clean(from) == path.Clean(to) {
		return slurmctl.StateMove{}
	}
	return slurmctl.StateMove{From: from, To: to}
}
