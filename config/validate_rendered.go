package config

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// rendered lets the renderer judge what it is given: extra keys always, the
// rest where nothing else is wrong, since most of it would repeat a problem
// that has been reported in terms of the file.
func (v *validator) rendered() {
	if v.isBroken("slurm.version") || v.isBroken("slurm.extra") && v.isBroken("slurm.partitions") {
		return
	}
	if _, err := slurmconf.ParseVersion(v.env.Slurm.Version); err != nil {
		return
	}
	clean := !slices.ContainsFunc(v.problems, func(p Problem) bool { return !p.Warning() })
	for _, p := range slurmconf.Check(v.env.SlurmCluster()) {
		path := rendererPath(p.Path)
		if !strings.Contains(path, "extra") && !clean || v.isBroken(path) {
			continue
		}
		kind := KindInvalid
		if p.Severity == slurmconf.Advice {
			kind = KindWarning
		}
		v.add(kind, path, p.Hint, p.What)
	}
}

var quotedStep = regexp.MustCompile(`\."([^"]*)"`)

// rendererPath puts a path of the renderer's model in terms of the file.
func rendererPath(path string) string {
	path = quotedStep.ReplaceAllString(path, `["$1"]`)
	switch {
	case strings.HasPrefix(path, "nodes"), strings.HasPrefix(path, "controllers"):
		return "hosts"
	case strings.HasPrefix(path, "topology"):
		return "topology.switches"
	case path == "name":
		return "slurm.clusterName"
	case strings.HasPrefix(path, "paths"):
		return "slurm.stateSaveLocation"
	default:
		return "slurm." + path
	}
}
