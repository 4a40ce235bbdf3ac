package slurmctl

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// Gres is a kind of generic resource with its count.
type Gres struct {
	// Name of the resource, for example "gpu".
	Name string
	// Type of it, for example "h100"; empty when Slurm shows none.
	Type string
	// Count of it.
	Count int64
}

// String writes the resource as a job asks for it: "gpu:h100:8".
func (g Gres) String() string {
	if g.Type == "" {
		return fmt.Sprintf("%s:%d", g.Name, g.Count)
	}
	return fmt.Sprintf("%s:%s:%d", g.Name, g.Type, g.Count)
}

// ParseGres reads a Gres or GresUsed field: "gpu:h100:8(S:0-1)",
// "gpu:(null):4(IDX:0-3)", "gpu:4,nic:2". What a node does not have is left
// out; the result is sorted by name and type, and equal ones are added up.
func ParseGres(text string) ([]Gres, error) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "(null)", "N/A":
		return nil, nil
	}
	sum := map[Gres]int64{}
	for _, item := range splitTop(text) {
		g, err := parseGresItem(item)
		if err != nil {
			return nil, fmt.Errorf("reading gres %q: %w", text, err)
		}
		sum[Gres{Name: g.Name, Type: g.Type}] += g.Count
	}
	var all []Gres
	for g, n := range sum {
		g.Count = n
		all = append(all, g)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].Name != all[j].Name {
			return all[i].Name < all[j].Name
		}
		return all[i].Type < all[j].Type
	})
	return all, nil
}

// splitTop splits at commas outside parentheses: "(S:0,2)" is one part.
func splitTop(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

func parseGresItem(item string) (Gres, error) {
	item = strings.TrimSpace(item)
	// The type may be "(null)"; the tail in parentheses is sockets or indexes.
	item = strings.ReplaceAll(item, "(null)", "")
	if i := strings.IndexByte(item, '('); i >= 0 {
		item = item[:i]
	}
	parts := strings.Split(item, ":")
	if parts[0] == "" {
		return Gres{}, fmt.Errorf("no name in %q", item)
	}
	g := Gres{Name: parts[0], Count: 1}
	rest := parts[1:]
	if len(rest) > 0 {
		n, err := parseCount(rest[len(rest)-1])
		switch {
		case err == nil:
			g.Count = n
			rest = rest[:len(rest)-1]
		case len(rest) > 1:
			return Gres{}, fmt.Errorf("no count in %q", item)
		}
	}
	switch len(rest) {
	case 0:
	case 1:
		g.Type = rest[0]
	case 2: // "gpu:no_consume:4" carries a flag before the count
		g.Type = rest[0]
	default:
		return Gres{}, fmt.Errorf("too many parts in %q", item)
	}
	return g, nil
}

// parseCount reads a count with Slurm's suffixes, powers of 1024.
func parseCount(text string) (int64, error) {
	shift := 0
	if n := len(text); n > 1 {
		switch text[n-1] {
		case 'K', 'k':
			shift = 10
		case 'M', 'm':
			shift = 20
		case 'G', 'g':
			shift = 30
		case 'T', 't':
			shift = 40
		case 'P', 'p':
			shift = 50
		}
	}
	if shift > 0 {
		text = text[:len(text)-1]
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > (1<<62)>>shift {
		return 0, fmt.Errorf("%q is no count", text)
	}
	return n << shift, nil
}

// FormatGres writes resources as slurm.conf does, sorted, so that two values
// can be compared as text.
func FormatGres(all []Gres) string {
	words := make([]string, len(all))
	for i, g := range all {
		words[i] = g.String()
	}
	sort.Strings(words)
	return strings.Join(words, ",")
}
