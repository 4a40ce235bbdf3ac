package config

import (
	"errors"
	"fmt"
	"slices"
)

// Part is a part of an environment that a program may leave out.
type Part string

// The parts of an environment besides its hosts, their hardware, its people and
// their home.
const (
	// PartReach is how hosts are reached: a lab, or an inventory with a key for
	// each host. A program that passes connections of its own does without.
	PartReach Part = "reach"
	// PartScheduler is the scheduler with all that it needs: its section, and
	// hosts that play its roles. A program that only prepares hosts does
	// without.
	PartScheduler Part = "scheduler"
)

// Check sets the defaults of an environment built in Go and judges it. Hosts,
// hardware, people and the shared home have to be there, and the parts that are
// named. The error holds every problem with its hint; warnings are passed over,
// [Environment.Validate] has them.
//
// Each component calls it with the parts that it uses.
func Check(e *Environment, parts ...Part) error {
	if e == nil {
		return errors.New("no environment is given")
	}
	e.SetDefaults()
	v := &validator{env: e}
	v.constraints()
	if !slices.Contains(parts, PartScheduler) {
		v.problems = slices.DeleteFunc(v.problems, func(p Problem) bool { return p.Kind == KindMissing && p.Path == "scheduler" })
	}
	v.rules(parts...)
	var all []error
	for _, p := range v.problems {
		if !p.Warning() {
			all = append(all, p.err())
		}
	}
	if len(all) > 0 {
		return fmt.Errorf("the environment %q is not valid:\n%w", e.Name, errors.Join(all...))
	}
	return nil
}

// err is the problem as an error, its hint below.
func (p Problem) err() error {
	if p.Hint == "" {
		return errors.New(p.String())
	}
	return errors.New(p.String() + "\n  hint: " + p.Hint)
}
