package slurmconf

import (
	"strings"
	"sync"
)

// strictLists are the keys whose every token Slurm knows or refuses the file
// for. In the other lists it passes over a token that it does not know, so that
// a slip of the pen stays without effect and without a word.
var strictLists = map[string]bool{
	"prologflags": true, "selecttypeparameters": true, "taskpluginparam": true, "debugflags": true,
}

// tokenTables map a key in lower case to its tokens in lower case.
var tokenTables = sync.OnceValue(func() map[string]map[string]keyInfo {
	text, err := keyFiles.ReadFile("keys/tokens.txt")
	if err != nil {
		panic(err)
	}
	tables := map[string]map[string]keyInfo{}
	for _, row := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		words := strings.Fields(row)
		k, err := parseKeyRow(strings.Join(append([]string{words[1], "token"}, words[2:]...), " "))
		if err != nil {
			panic("keys/tokens.txt: " + err.Error())
		}
		key := strings.ToLower(words[0])
		if tables[key] == nil {
			tables[key] = map[string]keyInfo{}
		}
		tables[key][strings.ToLower(k.name)] = k
	}
	return tables
})

// checkTokens checks the tokens of a list against the release.
func checkTokens(r *report, path, key, value string, versions ...Version) {
	table, ok := tokenTables()[strings.ToLower(key)]
	if !ok {
		return
	}
	say := r.advise
	if strictLists[strings.ToLower(key)] {
		say = r.add
	}
	for _, token := range strings.Split(value, ",") {
		name, _, _ := strings.Cut(strings.TrimSpace(token), "=")
		info, known := table[strings.ToLower(name)]
		if !known {
			say(path, key, "Slurm knows: "+strings.Join(near(name, table), ", "), "%s has no token %q", key, name)
			continue
		}
		for _, v := range versions {
			if !info.in(v) {
				say(path, key, "take it out"+whenHint(info), "token %q of %s is not in Slurm %s", name, key, v)
				break
			}
		}
	}
}

// whenHint says which releases have a key or token.
func whenHint(k keyInfo) string {
	switch {
	case k.until.IsZero():
		return "; it came with " + k.since.String()
	case k.since.IsZero() || k.since == V2205:
		return "; the last release to have it was " + k.until.String()
	}
	return "; it was in " + k.since.String() + " to " + k.until.String()
}
