// Package ledger says which scheduler owns each host of an estate. A host has
// one owner at a time.
package ledger

import "sort"

// Entry is one host's line in the ledger.
type Entry struct {
	// Host by name.
	Host string `json:"host"`
	// Owner is the scheduler that may start work on the host.
	Owner string `json:"owner"`
	// GPUs by type.
	GPUs map[string]int `json:"gpus,omitempty"`
}

// Ledger is the owners of all hosts, in order of host name.
type Ledger []Entry

// New makes a ledger. A host named twice keeps its last entry.
func New(entries []Entry) Ledger {
	byHost := map[string]Entry{}
	for _, e := range entries {
		byHost[e.Host] = e
	}
	l := make(Ledger, 0, len(byHost))
	for _, e := range byHost {
		l = append(l, e)
	}
	sort.Slice(l, func(i, j int) bool { return l[i].Host < l[j].Host })
	return l
}

// Owner returns the owner of a host, or "" for one that nobody owns.
func (l Ledger) Owner(host string) string {
	i := sort.Search(len(l), func(i int) bool { return l[i].Host >= host })
	if i < len(l) && l[i].Host == host {
		return l[i].Owner
	}
	return ""
}

// Owned lists the hosts of one owner.
func (l Ledger) Owned(owner string) []string {
	var hosts []string
	for _, e := range l {
		if e.Owner == owner {
			hosts = append(hosts, e.Host)
		}
	}
	return hosts
}
