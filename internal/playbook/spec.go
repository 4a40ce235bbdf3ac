package playbook

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/ansible"
)

// option is one declared input of a role.
type option struct {
	Type     string   `yaml:"type"`
	Elements string   `yaml:"elements"`
	Required bool     `yaml:"required"`
	Choices  []string `yaml:"choices"`
}

// roleUse is one import of a role by a playbook.
type roleUse struct {
	role, entry string
	given       []string // variables that the playbook itself sets
	conditional bool     // the role may be left out
}

// play is what a playbook file says of one play.
type play struct {
	Vars  map[string]any `yaml:"vars"`
	Tasks []struct {
		Import struct {
			Name      string `yaml:"name"`
			TasksFrom string `yaml:"tasks_from"`
		} `yaml:"ansible.builtin.import_role"`
		Vars map[string]any `yaml:"vars"`
		When any            `yaml:"when"`
	} `yaml:"tasks"`
}

// uses reads which roles a playbook imports, and its plays' own variables.
func (p Playbook) uses() (roles []roleUse, own []string, err error) {
	text, err := fs.ReadFile(ansible.FS, p.file())
	if err != nil {
		return nil, nil, err
	}
	var plays []play
	if err := yaml.Unmarshal(text, &plays); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", p.file(), err)
	}
	for _, pl := range plays {
		own = append(own, keys(pl.Vars)...)
		for _, t := range pl.Tasks {
			if t.Import.Name == "" {
				continue
			}
			entry := strings.TrimSuffix(t.Import.TasksFrom, ".yml")
			if entry == "" {
				entry = "main"
			}
			roles = append(roles, roleUse{role: t.Import.Name, entry: entry, given: keys(t.Vars), conditional: t.When != nil})
		}
	}
	return roles, own, nil
}

// options reads the declared inputs of a role: those of the entry point that
// is used, and those of all entry points together.
func (u roleUse) options() (used, all map[string]option, err error) {
	file := path.Join("roles", u.role, "meta", "argument_specs.yml")
	text, err := fs.ReadFile(ansible.FS, file)
	if err != nil {
		return nil, nil, err
	}
	var specs struct {
		Entries map[string]struct {
			Options map[string]option `yaml:"options"`
		} `yaml:"argument_specs"`
	}
	if err := yaml.Unmarshal(text, &specs); err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", file, err)
	}
	entry, ok := specs.Entries[u.entry]
	if !ok {
		return nil, nil, fmt.Errorf("%s declares no entry point %s", file, u.entry)
	}
	all = map[string]option{}
	for _, e := range specs.Entries {
		maps.Copy(all, e.Options)
	}
	return entry.Options, all, nil
}

// removes reports whether the playbook takes something back. It is given the
// variables of what it takes back, perhaps by another release, and passes over
// those that it does not know.
func (p Playbook) removes() bool { return strings.HasSuffix(string(p), "_remove") }

// check compares variables with what the playbook's roles declare, and reports
// every unknown, missing and mistyped one. Ansible would do the same far later,
// would pass over unknown ones, and would spend a process on each host for it.
func (p Playbook) check(vars map[string]any) error {
	roles, own, err := p.uses()
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, name := range own {
		known[name] = true
	}
	var problems []error
	seen := map[string]bool{}
	report := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !seen[text] {
			seen[text] = true
			problems = append(problems, errors.New(text))
		}
	}
	for _, use := range roles {
		used, all, err := use.options()
		if err != nil {
			return err
		}
		for _, name := range keys(used) {
			_, given := vars[name]
			if used[name].Required && !given && !use.conditional && !slices.Contains(use.given, name) {
				report("variable %s of role %s is missing", name, use.role)
			}
		}
		for _, name := range keys(all) {
			known[name] = true
			if value, given := vars[name]; given {
				if what := all[name].mismatch(value); what != "" {
					report("variable %s %s", name, what)
				}
			}
		}
	}
	for _, name := range keys(vars) {
		if !known[name] && !p.removes() {
			report("variable %s is declared by no role of the playbook", name)
		}
	}
	return errors.Join(problems...)
}

// mismatch says how a value differs from what the option takes, or "".
func (o option) mismatch(value any) string {
	if what := mistyped(o.Type, value); what != "" {
		return what
	}
	if len(o.Choices) > 0 && !slices.Contains(o.Choices, fmt.Sprint(value)) {
		return fmt.Sprintf("is %v; it takes %s", value, strings.Join(o.Choices, ", "))
	}
	if list, ok := value.([]any); ok && o.Elements != "" {
		for i, element := range list {
			if what := mistyped(o.Elements, element); what != "" {
				return fmt.Sprintf("has an element %d that %s", i, what)
			}
		}
	}
	return ""
}

// mistyped compares a value decoded from JSON with a type of Ansible's.
func mistyped(kind string, value any) string {
	fits := true
	switch kind {
	case "str", "path":
		_, fits = value.(string)
	case "bool":
		_, fits = value.(bool)
	case "int":
		number, ok := value.(float64)
		fits = ok && number == float64(int64(number))
	case "list":
		_, fits = value.([]any)
	case "dict":
		_, fits = value.(map[string]any)
	}
	if fits {
		return ""
	}
	// The value may be a secret: only its kind is told.
	return fmt.Sprintf("is a %s; it takes a %s", kindOf(value), kind)
}

// kindOf names the kind of a value decoded from JSON.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "str"
	case bool:
		return "bool"
	case float64:
		return "number"
	case []any:
		return "list"
	}
	return "dict"
}

// keys lists the keys of a map, sorted.
func keys[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}
