package slurmconf

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestOwnedKeysAreInTheTemplates: what a template writes as ours is refused as
// an extra key, and each default can be set by one.
func TestOwnedKeysAreInTheTemplates(t *testing.T) {
	call := regexp.MustCompile(`(own|default|list) "([A-Za-z]+)"`)
	for _, file := range extraFiles {
		text, err := os.ReadFile("../../templates/slurm/" + file + ".tmpl")
		if err != nil {
			t.Fatal(err)
		}
		found := call.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s writes no key", file)
		}
		for _, m := range found {
			_, isOwned := owned[file][strings.ToLower(m[2])]
			if (m[1] == "own") != isOwned {
				t.Errorf("%s writes %s as %q; owned: %v", file, m[2], m[1], isOwned)
			}
		}
	}
}

// TestOwnedKeysExist: the lists by hand name keys that the tables have.
func TestOwnedKeysExist(t *testing.T) {
	first := map[string]bool{"node/nodename": true, "partition/partitionname": true}
	for table, keys := range owned {
		for key := range keys {
			if _, ok := keyTables()[table][key]; !ok && !first[table+"/"+key] {
				t.Errorf("%s: owned key %q is in no release", table, key)
			}
			if key != strings.ToLower(key) {
				t.Errorf("%s: %q is not in lower case", table, key)
			}
		}
	}
	for key := range gone {
		if key != strings.ToLower(key) {
			t.Errorf("%q is not in lower case", key)
		}
	}
}

// TestRenderedKeysAreInTheTables: no release gets a key that it does not know.
func TestRenderedKeysAreInTheTables(t *testing.T) {
	record := map[string]string{"nodename": "node", "partitionname": "partition"}
	for _, v := range Supported {
		for name, c := range samples(v) {
			set, err := Render(c)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range set.Files {
				if keyTables()[f.Name] == nil {
					continue
				}
				lines, err := Parse(f.Content)
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range lines {
					table := f.Name
					if r, ok := record[strings.ToLower(l.Pairs[0].Key)]; ok && f.Name == "slurm.conf" {
						table = r
					}
					for i, p := range l.Pairs {
						if i == 0 && table != f.Name || l.Is("NodeSet") || f.Name == "gres.conf" && i == 0 {
							continue
						}
						if info, ok := keyTables()[table][strings.ToLower(p.Key)]; !ok || !info.in(v) {
							t.Errorf("%s %s: %s is not a key of %s", v, name, p.Key, table)
						}
					}
				}
			}
		}
	}
}
