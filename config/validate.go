package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
)

// Validate reports everything that is wrong with an environment whose defaults
// are set, warnings included, in the order of the fields. [Load] has done so
// already; it is for environments built in Go. [Check] judges parts alone, and
// returns an error.
func (e *Environment) Validate() []Problem {
	v := &validator{env: e}
	v.constraints()
	v.rules(PartReach, PartScheduler)
	return v.problems
}

// validator collects problems while it walks an environment.
type validator struct {
	env      *Environment
	problems []Problem
	// given tells whether the file gives a value; nil without a file.
	given func(path string) bool
	// broken tells whether the value at a path could not be read whole, so
	// that what depends on it cannot be judged; nil without a file.
	broken func(path string) bool
	// incomplete says that something in the file could not be read.
	incomplete bool
	// waiting says that checks were left out because of other problems.
	waiting bool
	// absent are the paths of what is missing or means nothing, although
	// other things depend on it.
	absent []string

	all      []Host
	compute  []string
	byRole   map[Role]int
	hosts    map[string]int // index in all, by name
	accounts map[string]bool
	qos      map[string]bool
	users    map[string]bool
	groups   map[string]bool
	gpuTypes map[string]bool
}

// rules checks what no single field can tell, of the hosts and of the parts
// that a program uses.
func (v *validator) rules(parts ...Part) {
	reach, scheduler := slices.Contains(parts, PartReach), slices.Contains(parts, PartScheduler)
	v.collect()
	v.name()
	v.source(reach)
	if scheduler {
		v.scheduler()
	}
	v.profiles()
	v.hostGroups()
	if scheduler {
		v.roles()
		v.groupSettings()
	}
	v.storage()
	v.lab()
	v.inventory(reach)
	if scheduler {
		v.topology()
	}
	v.identity()
	v.home()
	if scheduler {
		v.slurm()
		v.kubernetes()
		v.artifacts()
	}
	v.secrets()
	if scheduler {
		v.names()
	}
}

func (v *validator) add(kind Kind, path, hint, what string) {
	v.problems = append(v.problems, Problem{Kind: kind, Path: path, What: what, Hint: hint})
}

// atKey makes the problems from an index on point at keys.
func (v *validator) atKey(from int) {
	for i := range v.problems[from:] {
		v.problems[from+i].atKey = true
	}
}

func (v *validator) addf(kind Kind, path, hint, format string, args ...any) {
	v.add(kind, path, hint, fmt.Sprintf(format, args...))
}

// isBroken tells whether a value, or something in it, is already known to be
// bad, so that judging it further would only repeat that in other words.
func (v *validator) isBroken(path string) bool {
	return v.broken != nil && v.broken(path) || related(path, v.absent)
}

// related tells whether a path contains, is, or lies within one of others.
func related(path string, others []string) bool {
	return slices.ContainsFunc(others, func(other string) bool {
		return strictyaml.Within(path, other) || strictyaml.Within(other, path)
	})
}

// expand reads a hostlist expression and reports what is wrong with it. An
// expression that names nothing, or a host twice, is a problem too.
func (v *validator) expand(path, expression string) []string {
	if expression == "" || v.isBroken(path) {
		return nil
	}
	names, err := hostlist.Expand(expression)
	if err != nil {
		v.problems = append(v.problems, hostlistProblem(path, err))
		return nil
	}
	if len(names) == 0 {
		v.add(KindInvalid, path, "", fmt.Sprintf("%q names nothing", expression))
	}
	seen := map[string]bool{}
	var twice []string
	for _, name := range names {
		if seen[name] {
			twice = append(twice, name)
		}
		seen[name] = true
	}
	if len(twice) > 0 {
		v.addf(KindDuplicate, path, "", "names %s twice", hostlist.Compress(twice))
	}
	return names
}

func hostlistProblem(path string, err error) Problem {
	p := Problem{Kind: KindInvalid, Path: path, What: err.Error()}
	var e *hostlist.Error
	if errors.As(err, &e) {
		p.What, p.Hint, p.Offset = string(e.Kind), e.Hint(), e.Offset
		if e.Text != "" {
			p.What += fmt.Sprintf(": %q", e.Text)
		}
	}
	return p
}

// reference reports a name that is not among the known.
func (v *validator) reference(path, name, what string, known map[string]bool) {
	if name == "" || known[name] || v.isBroken(path) {
		return
	}
	v.add(KindReference, path, didYouMean(name, known), fmt.Sprintf("%s %q does not exist", what, name))
}

// references checks a list of names, and that none is there twice.
func (v *validator) references(path string, names []string, what string, known map[string]bool) {
	seen := map[string]bool{}
	for i, name := range names {
		item := strictyaml.Item(path, i)
		if seen[name] {
			v.addf(KindDuplicate, item, "", "%s %q is listed twice", what, name)
			continue
		}
		seen[name] = true
		v.reference(item, name, what, known)
	}
}

// didYouMean is a hint about names: the nearest one, or all of a few.
func didYouMean(name string, known map[string]bool) string {
	names := slices.Sorted(maps.Keys(known))
	if meant := suggest.Closest(name, names); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	if len(names) > 0 && len(names) <= 8 {
		return "there are: " + strings.Join(names, ", ")
	}
	return ""
}
