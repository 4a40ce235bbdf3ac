package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// maxGPUs is more than any server sold today has.
const maxGPUs = 16

// manySockets is the number of sockets from which a profile with one core in
// each is more likely a virtual machine's count of CPUs.
const manySockets = 8

var gpuType = regexp.MustCompile(`^[a-z0-9][a-z0-9_.-]*$`)

func (v *validator) profiles() {
	for _, name := range slices.Sorted(maps.Keys(v.env.Profiles)) {
		path := strictyaml.Child("profiles", name)
		profile := v.env.Profiles[name]
		if !slurmWord.MatchString(name) {
			v.addf(KindInvalid, path, "letters, digits, \"_\", \".\" and \"-\"", "%q cannot name a profile", name)
		}
		v.processors(path, profile)
		v.memory(path, profile)
		v.gpus(path+".gpus", profile.GPUs)
		v.featureNames(path+".features", profile.Features)
	}
}

func (v *validator) processors(path string, p Profile) {
	if p.Sockets > manySockets && p.CoresPerSocket == 1 {
		v.addf(KindWarning, path+".sockets", "on a virtual machine write what the host's lscpu says; else GPUs are not near any core",
			"%d sockets of one core each: probably a count of CPUs", p.Sockets)
	}
}

func (v *validator) memory(path string, p Profile) {
	if p.Memory <= 0 || v.isBroken(path+".memory") || v.isBroken(path+".usableMemory") {
		return
	}
	switch {
	case p.UsableMemory > p.Memory:
		v.addf(KindHardware, path+".usableMemory", fmt.Sprintf("leave it out for %d %% of memory", defaultUsablePercent),
			"%s usable of %s in all", p.UsableMemory, p.Memory)
	case p.UsableMemory == p.Memory:
		v.addf(KindWarning, path+".usableMemory", fmt.Sprintf("leave it out for %d %% of memory", defaultUsablePercent),
			"nothing is left for firmware and kernel: a host that reports less than it declares is drained")
	}
}

func (v *validator) gpus(path string, gpus []GPU) {
	total, end := 0, 0
	seen := map[string]bool{}
	taken := map[int]string{}
	for i, gpu := range gpus {
		item := strictyaml.Item(path, i)
		if gpu.Type != "" && !gpuType.MatchString(gpu.Type) {
			v.addf(KindInvalid, item+".type", fmt.Sprintf("write %q", normalGPUType(gpu.Type)), "%q cannot name a GPU type", gpu.Type)
		}
		if seen[gpu.Type] && gpu.Type != "" {
			v.addf(KindDuplicate, item+".type", "add the counts up in one entry", "GPU type %q is listed twice", gpu.Type)
		}
		seen[gpu.Type] = true
		first := valueOr(gpu.FirstDevice, end)
		for n := first; n < first+min(gpu.Count, maxGPUs); n++ {
			if other, ok := taken[n]; ok {
				v.addf(KindHardware, item+".firstDevice", fmt.Sprintf("the next free one is %d", end),
					"/dev/nvidia%d belongs to both %s and %s", n, other, gpu.Type)
				break
			}
			taken[n] = gpu.Type
		}
		end = max(end, first+gpu.Count)
		total += gpu.Count
	}
	if total > maxGPUs && len(gpus) > 1 {
		v.addf(KindHardware, path, "", "%d GPUs in one host, at most %d", total, maxGPUs)
	}
}

// normalGPUType turns a model's name into a type that Slurm can hold.
func normalGPUType(name string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		default:
			return '_'
		}
	}, strings.ToLower(strings.TrimSpace(name)))
	if out = strings.TrimLeft(out, "_.-"); out == "" {
		return "gpu"
	}
	return out
}
