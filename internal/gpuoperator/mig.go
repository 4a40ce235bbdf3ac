package gpuoperator

import (
	"maps"
	"slices"
	"strings"
)

// models are the GPUs that can be cut, by what a type's name begins with, and how
// many slices of each size there is room for. From NVIDIA's guide to Multi-Instance
// GPUs; the first that fits counts.
var models = []struct {
	prefix string
	slices map[string]int
}{
	{"a100-40gb", map[string]int{"1g.5gb": 7, "1g.10gb": 4, "2g.10gb": 3, "3g.20gb": 2, "4g.20gb": 1, "7g.40gb": 1}},
	{"a100", eighty},
	{"a30", map[string]int{"1g.6gb": 4, "2g.12gb": 2, "4g.24gb": 1}},
	{"h100-94gb", map[string]int{"1g.12gb": 7, "1g.24gb": 4, "2g.24gb": 3, "3g.47gb": 2, "4g.47gb": 1, "7g.94gb": 1}},
	{"h100", eighty},
	{"h800", eighty},
	{"h200", map[string]int{"1g.18gb": 7, "1g.35gb": 4, "2g.35gb": 3, "3g.71gb": 2, "4g.71gb": 1, "7g.141gb": 1}},
	{"b200", map[string]int{"1g.23gb": 7, "1g.45gb": 4, "2g.45gb": 3, "3g.90gb": 2, "4g.90gb": 1, "7g.180gb": 1}},
}

var eighty = map[string]int{"1g.10gb": 7, "1g.20gb": 4, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1}

// whole are GPUs of this time that cannot be cut.
var whole = []string{"a2", "a10", "a16", "a40", "a4000", "a5000", "a6000", "l4", "l20", "l40", "l40s", "p100", "rtx", "t4", "v100"}

// slicesOf is how many slices of each size there are in a GPU, or nil for a type
// that is not known.
func slicesOf(gpuType string) map[string]int {
	for _, m := range models {
		if begins(gpuType, m.prefix) {
			return m.slices
		}
	}
	return nil
}

// begins tells whether a type's name is a model's, or goes on after it.
func begins(gpuType, model string) bool {
	rest, ok := strings.CutPrefix(gpuType, model)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "-_."))
}

func cannotBeCut(gpuType string) bool {
	return slices.ContainsFunc(whole, func(model string) bool { return begins(gpuType, model) })
}

// sizes lists the sizes of slices of a type, smallest first.
func sizes(gpuType string) string {
	all := slices.Sorted(maps.Keys(slicesOf(gpuType)))
	return strings.Join(all, ", ")
}
