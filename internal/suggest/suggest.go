// Package suggest finds the word that a person probably meant.
package suggest

import "strings"

// Closest returns the candidate nearest to word, or the empty string when none
// is near: letter case does not count, and about one letter in three may be
// wrong, missing, extra or swapped with its neighbour. Of equally near
// candidates the first wins.
func Closest(word string, candidates []string) string {
	lower := strings.ToLower(word)
	best, bestDistance := "", len(lower)/3+1
	if bestDistance > 4 {
		bestDistance = 4
	}
	for _, candidate := range candidates {
		other := strings.ToLower(candidate)
		if other == lower+"s" || lower == other+"s" {
			return candidate
		}
		if difference := len(other) - len(lower); difference >= bestDistance || -difference >= bestDistance {
			continue
		}
		if d := distance(lower, other); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// distance is the number of edits (insert, delete, replace, swap neighbours)
// between two words.
func distance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}
