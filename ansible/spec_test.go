package ansible

import (
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"sort"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

type argument struct {
	Description any      `yaml:"description"`
	Type        string   `yaml:"type"`
	Required    bool     `yaml:"required"`
	Default     any      `yaml:"default"`
	Choices     []string `yaml:"choices"`
}

// read decodes a YAML file of the tree; an absent file leaves v alone.
func read(t *testing.T, name string, v any) bool {
	t.Helper()
	text, err := fs.ReadFile(FS, name)
	if err != nil {
		return false
	}
	if err := yaml.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return true
}

func roles(t *testing.T) []string {
	t.Helper()
	entries, err := fs.ReadDir(FS, "roles")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) == 0 {
		t.Fatal("there are no roles")
	}
	return names
}

// A role's declared inputs are its defaults, no more and no less, and each task
// file that can be called from outside declares its own.
func TestArgumentSpecsEqualDefaults(t *testing.T) {
	for _, role := range roles(t) {
		t.Run(role, func(t *testing.T) {
			var specs struct {
				Entries map[string]struct {
					Short   string              `yaml:"short_description"`
					Options map[string]argument `yaml:"options"`
				} `yaml:"argument_specs"`
			}
			if !read(t, path.Join("roles", role, "meta/argument_specs.yml"), &specs) {
				t.Fatal("the role declares no arguments")
			}
			declared := map[string]any{}
			for entry, e := range specs.Entries {
				if _, err := fs.Stat(FS, path.Join("roles", role, "tasks", entry+".yml")); err != nil {
					t.Errorf("entry point %s has no tasks", entry)
				}
				if e.Short == "" {
					t.Errorf("entry point %s does not say what it does", entry)
				}
				for name, a := range e.Options {
					if !strings.HasPrefix(name, role+"_") {
						t.Errorf("%s does not begin with the role's name", name)
					}
					if a.Description == nil || a.Type == "" {
						t.Errorf("%s has no description or no type", name)
					}
					if a.Required {
						if a.Default != nil {
							t.Errorf("%s is required and has a default", name)
						}
						continue
					}
					if a.Default == nil {
						t.Errorf("%s is neither required nor has a default", name)
					}
					if earlier, ok := declared[name]; ok && !reflect.DeepEqual(earlier, a.Default) {
						t.Errorf("%s has two defaults", name)
					}
					declared[name] = a.Default
				}
			}
			defaults := map[string]any{}
			read(t, path.Join("roles", role, "defaults/main.yml"), &defaults)
			if len(declared)+len(defaults) > 0 && !reflect.DeepEqual(declared, defaults) {
				t.Errorf("declared  %s\ndefaults  %s", listed(declared), listed(defaults))
			}
		})
	}
}

func listed(m map[string]any) string {
	lines := make([]string, 0, len(m))
	for k, v := range m {
		lines = append(lines, fmt.Sprintf("%s=%v", k, v))
	}
	sort.Strings(lines)
	return strings.Join(lines, " ")
}

var module = regexp.MustCompile(`gpucluster\.host\.[a-z_]+`)

var variable = regexp.MustCompile(`\b[a-z]+(?:_[a-z0-9]+)+\b`)

// A role uses only variables that it declares, sets or registers, so that a
// mistyped name cannot pass as an undefined one.
func TestRolesUseOnlyTheirOwnVariables(t *testing.T) {
	names := roles(t)
	for _, role := range names {
		own := map[string]bool{}
		for _, file := range []string{"defaults/main.yml", "vars/main.yml"} {
			m := map[string]any{}
			read(t, path.Join("roles", role, file), &m)
			for k := range m {
				own[k] = true
			}
		}
		spec, err := fs.ReadFile(FS, path.Join("roles", role, "meta/argument_specs.yml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\s+([a-z0-9_]+):$`).FindAllStringSubmatch(string(spec), -1) {
			own[m[1]] = true
		}
		err = fs.WalkDir(FS, path.Join("roles", role, "tasks"), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(FS, name)
			if err != nil {
				return err
			}
			for _, m := range regexp.MustCompile(`(?m)^\s+(?:register: )?(`+role+`_[a-z_]+):?\s`).FindAllStringSubmatch(string(text), -1) {
				own[m[1]] = true
			}
			for _, word := range variable.FindAllString(module.ReplaceAllString(string(text), ""), -1) {
				if strings.HasPrefix(word, role+"_") && !own[word] {
					t.Errorf("%s uses %s, which nothing declares", name, word)
				}
				for _, other := range names {
					if other != role && strings.HasPrefix(word, other+"_") && !strings.HasPrefix(role, other+"_") {
						t.Errorf("%s uses %s of role %s", name, word, other)
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

var placedFile = regexp.MustCompile(`(?m)^( *)(?:- path: .*\n(?:.*\n)??)? *content: \|\n(.*)\n`)

// Whatever the roles place says whose it is: files without the header are
// somebody else's and would be refused at the next run.
func TestPlacedFilesCarryTheHeader(t *testing.T) {
	found := 0
	err := fs.WalkDir(FS, "roles", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".yml") {
			return err
		}
		text, err := fs.ReadFile(FS, name)
		if err != nil {
			return err
		}
		for _, m := range placedFile.FindAllStringSubmatch(string(text), -1) {
			found++
			if !strings.Contains(m[2], "written by gpucluster") {
				t.Errorf("%s: a placed file begins with %q", name, strings.TrimSpace(m[2]))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 8 {
		t.Errorf("only %d placed files were found", found)
	}
}
