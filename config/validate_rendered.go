package config

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// rendered lets the renderer judge what it is given: extra keys always, the
// rest where nothing else is wrong, since most of it would repeat in other
// words what has been reported in terms of the file.
func (v *validator) rendered() {
	if v.isBroken("slurm.version") {
		return
	}
	if version, err := slurmconf.ParseVersion(v.env.Slurm.Version); err != nil || !version.IsSupported() {
		return
	}
	clean := !v.incomplete && !slices.ContainsFunc(v.problems, func(p Problem) bool { return !p.Warning() })
	type kind struct{ path, hint string }
	seen := map[kind]bool{}
	for _, p := range slurmconf.Check(v.env.SlurmCluster()) {
		path, extra := v.rendererPath(p.Path), extraPath.MatchString(p.Path)
		if !extra && (!clean || p.Severity == slurmconf.Advice) || v.isBroken(path) {
			v.waiting = v.waiting || !clean && p.Severity != slurmconf.Advice
			continue
		}
		p.Hint = hintInKeys(p.Hint, strings.HasPrefix(p.Path, "partitions"))
		// One problem of a profile is one of each of its hosts.
		if key := (kind{path, p.Hint}); !extra && seen[key] {
			continue
		} else {
			seen[key] = true
		}
		if p.Severity == slurmconf.Advice {
			v.add(KindWarning, path, p.Hint, p.What)
			continue
		}
		from := len(v.problems)
		v.add(KindInvalid, path, p.Hint, p.What)
		if extra && !aboutValue.MatchString(p.What) {
			v.atKey(from)
		}
	}
}

var (
	extraPath  = regexp.MustCompile(`^(partitions\[\d+\]\.)?extra\b`)
	quotedStep = regexp.MustCompile(`\."([^"]*)"`)
	aboutValue = regexp.MustCompile(`^\w+ (is "|is empty|has |begins )`)
	nodeStep   = regexp.MustCompile(`^nodes\[(\d+)\]`)
)

// rendererPath puts a path of the renderer's model in terms of the file.
func (v *validator) rendererPath(path string) string {
	path = quotedStep.ReplaceAllString(path, `["$1"]`)
	if parts := nodeStep.FindStringSubmatch(path); parts != nil {
		i, err := strconv.Atoi(parts[1])
		if err == nil && i < len(v.compute) {
			return strictyaml.Item("hosts", v.all[v.hosts[v.compute[i]]].Group) + ".names"
		}
	}
	switch {
	case strings.HasPrefix(path, "nodes"), strings.HasPrefix(path, "controllers"):
		return "hosts"
	case strings.HasPrefix(path, "topology"):
		return "topology.switches"
	case path == "name":
		return "slurm.clusterName"
	case strings.HasPrefix(path, "paths"):
		return "slurm.stateSaveLocation"
	case strings.HasPrefix(path, "accounting"):
		return "slurm.database"
	default:
		return "slurm." + path
	}
}

// hintInKeys puts a hint that names a field of the renderer's model in terms of
// the file.
func hintInKeys(hint string, ofPartition bool) string {
	field, ok := strings.CutPrefix(hint, "set ")
	if !ok {
		return hint
	}
	if ofPartition {
		return "set " + cmp.Or(partitionKeys[field], field)
	}
	for _, key := range clusterKeys {
		if strings.HasPrefix(field, key.model) {
			return key.hint
		}
	}
	return hint
}

// partitionKeys are the fields of a partition that the file calls otherwise.
var partitionKeys = map[string]string{
	"nodes": "hosts", "allowQOS": "allowQos",
}

// clusterKeys say where the file has what the renderer calls otherwise.
var clusterKeys = []struct{ model, hint string }{
	{"name", "set slurm.clusterName"},
	{"controllers", "give hosts the role controller"},
	{"paths.stateSaveLocation", "set slurm.stateSaveLocation"},
	{"paths", "it is fixed"},
	{"accounting.enforce", "it is fixed"},
	{"accounting.tres", "it follows from the GPUs of the profiles"},
	{"accounting", "set slurm.database, or give a host the role database"},
	{"nodeSets", "name the hosts in each partition"},
	{"nodes", "set hosts and profiles"},
	{"partitions", "set slurm.partitions"},
	{"healthCheck", "set slurm.healthCheck"},
	{"preemption", "set slurm.preemption"},
	{"priority", "set slurm.priority"},
	{"privateTmp", "set slurm.privateTmp"},
}
