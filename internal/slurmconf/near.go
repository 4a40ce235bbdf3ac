package slurmconf

import (
	"sort"
	"strings"
)

// near are the names of a table most like name, the nearest first, at most
// three; without a near one, the first of the table.
func near(name string, table map[string]keyInfo) []string {
	type scored struct {
		name     string
		distance int
	}
	var all []scored
	low := strings.ToLower(name)
	for key, info := range table {
		all = append(all, scored{info.name, distance(low, key)})
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].distance != all[j].distance {
			return all[i].distance < all[j].distance
		}
		return all[i].name < all[j].name
	})
	var out []string
	for i := range min(3, len(all)) {
		if i > 0 && all[i].distance > all[0].distance+1 {
			break
		}
		out = append(out, all[i].name)
	}
	return out
}

// didYouMean is a hint with the nearest name, if one is near enough.
func didYouMean(name string, table map[string]keyInfo) string {
	best := near(name, table)
	if len(best) == 0 || distance(strings.ToLower(name), strings.ToLower(best[0])) > 1+len(name)/4 {
		return ""
	}
	return "did you mean " + best[0] + "?"
}

// distance is the number of bytes to change, add or drop between a and b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
