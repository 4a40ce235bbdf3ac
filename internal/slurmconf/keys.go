package slurmconf

import (
	"embed"
	"fmt"
	"strings"
	"sync"
)

// keyFiles are the tables of accepted keys: a key, the kind of its value and,
// where not every release from 22.05 to 26.05 takes it, the releases that do.
//
//go:embed keys/*.txt
var keyFiles embed.FS

// keyInfo is a row of a table.
type keyInfo struct {
	name string
	// kind is text, number, real, bool, record (a line or a list of its own)
	// or ignored (taken, without effect).
	kind string
	// since and until bound the releases; zero: all.
	since, until Version
}

func (k keyInfo) in(v Version) bool {
	return (k.since.IsZero() || v.AtLeast(k.since)) && (k.until.IsZero() || k.until.AtLeast(v))
}

// keyTables are read once: table to key in lower case to its row.
var keyTables = sync.OnceValue(func() map[string]map[string]keyInfo {
	tables := map[string]map[string]keyInfo{}
	for _, name := range []string{"slurm.conf", "node", "partition", "gres.conf", "cgroup.conf", "slurmdbd.conf", "job_container.conf"} {
		text, err := keyFiles.ReadFile("keys/" + name + ".txt")
		if err != nil {
			panic(err)
		}
		tables[name] = map[string]keyInfo{}
		for _, row := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			k, err := parseKeyRow(row)
			if err != nil {
				panic(fmt.Sprintf("keys/%s.txt: %v", name, err))
			}
			tables[name][strings.ToLower(k.name)] = k
		}
	}
	return tables
})

func parseKeyRow(row string) (keyInfo, error) {
	words := strings.Fields(row)
	if len(words) < 2 || len(words) > 3 {
		return keyInfo{}, fmt.Errorf("row %q", row)
	}
	k := keyInfo{name: words[0], kind: words[1]}
	if len(words) == 2 {
		return k, nil
	}
	since, until, _ := strings.Cut(words[2], "-")
	for text, v := range map[string]*Version{since: &k.since, until: &k.until} {
		if text == "" {
			continue
		}
		parsed, err := ParseVersion(text)
		if err != nil {
			return keyInfo{}, fmt.Errorf("row %q: %w", row, err)
		}
		*v = parsed
	}
	return k, nil
}

// Spelling is a key as Slurm's documents write it, given in any case; a key
// that the table does not have comes back as it is. Tables are the file names,
// and "node" and "partition" for the records in slurm.conf.
func Spelling(table, key string) string {
	if k, ok := keyTables()[table][strings.ToLower(key)]; ok {
		return k.name
	}
	return key
}
