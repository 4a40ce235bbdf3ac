package kubeconf

import (
	"maps"
	"slices"
	"strings"
)

// joinSorted writes "a=1,b=2", by key.
func joinSorted(labels map[string]string) string {
	out := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, ",")
}
