package slurmconf

import (
	"maps"
	"slices"
)

// Samples are the golden clusters, for tests outside the package.
var Samples = samples

// Keys are the keys that a table says a release knows, or does not know, each
// with a value of its kind.
func Keys(table string, v Version, known bool) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(keyTables()[table])) {
		info := keyTables()[table][k]
		if info.in(v) != known {
			continue
		}
		value := map[string]string{"number": "1", "real": "1", "bool": "yes", "text": "x"}[info.kind]
		if value != "" {
			out = append(out, info.name+"="+value)
		}
	}
	return out
}

// Large is the cluster of the benchmarks.
var Large = largeCluster
