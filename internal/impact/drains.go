package impact

import (
	"slices"
	"strings"
)

// Emptied are the partitions that go and must be free of jobs first.
func (p Plan) Emptied() []string {
	var out []string
	for _, c := range p.Changes {
		for _, e := range c.Effects {
			if e.Action == Empty {
				out = append(out, strings.TrimPrefix(c.Record, "partition "))
			}
		}
	}
	return out
}

// Drained maps each host that stays and must be free of jobs first to what
// changes of it, in words.
func (p Plan) Drained() map[string][]string {
	out := map[string][]string{}
	for _, c := range p.Changes {
		if c.Key == "" { // a whole node comes or goes
			continue
		}
		for _, e := range c.Effects {
			if e.Action != Drain {
				continue
			}
			for _, host := range e.Hosts {
				if what := c.words(); !slices.Contains(out[host], what) {
					out[host] = append(out[host], what)
				}
			}
		}
	}
	return out
}

// words are the key and its values.
func (c Change) words() string {
	return strings.TrimPrefix(Change{Key: c.Key, From: c.From, To: c.To}.String(), ": ")
}
