package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
)

// plainTRES are resources that every cluster accounts for.
var plainTRES = []string{"cpu", "mem", "node", "billing", "energy", "vmem", "pages", "fs/disk"}

var licenseTRES = regexp.MustCompile(`^license/[A-Za-z0-9_.@-]+$`)

// most is the largest amount that is taken: more than any cluster has, and less
// than what Slurm takes for "no bound".
const most = 1_000_000_000_000_000

// tres checks the names of trackable resources and their amounts.
func tres[N int | int64](v *validator, path string, amounts map[string]N) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		at := strictyaml.Child(path, name)
		v.tresName(at, name)
		if amounts[name] < 0 {
			v.addf(KindInvalid, at, "leave it out for no bound", "%d is negative", amounts[name])
		}
		if int64(amounts[name]) > most {
			v.addf(KindInvalid, at, "leave it out for no bound", "%d is more than %d", amounts[name], most)
		}
	}
}

func (v *validator) tresName(path, name string) {
	from := len(v.problems)
	defer v.atKey(from)
	if v.isBroken(path) || slices.Contains(plainTRES, name) || licenseTRES.MatchString(name) {
		return
	}
	kind, typed := strings.CutPrefix(name, "gres/gpu:")
	switch {
	case name == "gres/gpu":
		if len(v.gpuTypes) == 0 && !v.isBroken("profiles") {
			v.add(KindReference, path, "add gpus to a profile", "no profile has GPUs")
		}
	case typed:
		if !v.gpuTypes[kind] && !v.isBroken("profiles") {
			v.add(KindReference, path, didYouMean(kind, v.gpuTypes), fmt.Sprintf("no profile has GPUs of type %q", kind))
		}
	default:
		hint := "one of " + strings.Join(plainTRES, ", ") + ", gres/gpu, gres/gpu:<type>, license/<name>"
		if strings.HasPrefix(name, "gpu") {
			hint = "write gres/" + name
		} else if meant := suggest.Closest(name, append(slices.Clone(plainTRES), "gres/gpu")); meant != "" {
			hint = fmt.Sprintf("did you mean %q?", meant)
		}
		v.addf(KindInvalid, path, hint, "%q is not a trackable resource", name)
	}
}

func (v *validator) limits(path string, l Limits) {
	tres(v, path+".grpTRES", l.GrpTRES)
	tres(v, path+".maxTRESPerJob", l.MaxTRESPerJob)
	v.slurmTime(path+".maxWall", l.MaxWall)
}
