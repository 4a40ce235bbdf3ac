package hostlist

import "sort"

// Less orders names as a person would: text as text and numbers as numbers
// (rack2-gpu10 before rack10-gpu2), less padding first. It is a total order.
func Less(a, b string) bool { return cut(a).less(cut(b)) }

// Sort orders names by [Less], in place.
func Sort(names []string) {
	split := make([]splitName, len(names))
	for i, n := range names {
		split[i] = cut(n)
	}
	sort.Slice(split, func(i, j int) bool { return split[i].less(split[j]) })
	for i, s := range split {
		names[i] = s.full
	}
}

func (s splitName) less(t splitName) bool {
	if s.prefix != t.prefix {
		return naturalLess(s.prefix, t.prefix)
	}
	if s.num != t.num {
		return s.num < t.num
	}
	return s.width < t.width
}

// naturalLess compares a and b piece by piece, digits by value. Texts that
// differ only in padding are ordered byte by byte, so that none are equal.
func naturalLess(a, b string) bool {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if !digit(a[i]) || !digit(b[j]) {
			if a[i] != b[j] {
				return a[i] < b[j]
			}
			i++
			j++
			continue
		}
		var x, y string
		x, i = number(a, i)
		y, j = number(b, j)
		if x != y {
			return len(x) < len(y) || len(x) == len(y) && x < y
		}
	}
	if i < len(a) || j < len(b) {
		return i == len(a)
	}
	return a < b
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number returns the digits at s[i:] without leading zeros, and where they end.
func number(s string, i int) (string, int) {
	for i < len(s) && s[i] == '0' {
		i++
	}
	from := i
	for i < len(s) && digit(s[i]) {
		i++
	}
	return s[from:i], i
}
