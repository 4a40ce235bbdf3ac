package slurmctl

import (
	"sort"
	"strings"
)

// State is a node's state: one base word and a set of flags.
type State struct {
	// Base is IDLE, MIXED, ALLOCATED, DOWN, ERROR, FUTURE or UNKNOWN.
	Base string
	// Flags are what Slurm adds to it, sorted: DRAIN, MAINTENANCE, RESERVED,
	// COMPLETING, NOT_RESPONDING, INVALID_REG, PLANNED, ...
	Flags []string
}

// The base states and flags that this package asks about.
const (
	BaseDown          = "DOWN"
	BaseUnknown       = "UNKNOWN"
	BaseFuture        = "FUTURE"
	FlagDrain         = "DRAIN"
	FlagCompleting    = "COMPLETING"
	FlagMaintenance   = "MAINTENANCE"
	FlagNotResponding = "NOT_RESPONDING"
	FlagInvalid       = "INVALID_REG"
)

// stateMarks are the signs that Slurm puts behind a state in place of a word.
var stateMarks = map[byte]string{
	'*': FlagNotResponding,
	'~': "POWERED_DOWN",
	'#': "POWERING_UP",
	'!': "POWER_DOWN",
	'%': "POWERING_DOWN",
	'$': FlagMaintenance,
	'@': "REBOOT_REQUESTED",
	'^': "REBOOT_ISSUED",
	'-': "PLANNED",
}

// stateWords are other names for the same flag, by release and command.
var stateWords = map[string]string{
	"MAINT":     FlagMaintenance,
	"DRAINED":   FlagDrain,
	"DRAINING":  FlagDrain,
	"NO_RESP":   FlagNotResponding,
	"INVAL":     FlagInvalid,
	"RESV":      "RESERVED",
	"COMP":      FlagCompleting,
	"PLND":      "PLANNED",
	"ALLOC":     "ALLOCATED",
	"MIX":       "MIXED",
	"DOWN_FAIL": BaseDown,
}

// ParseState reads a state such as "IDLE+DRAIN+NOT_RESPONDING" or "MIXED*".
func ParseState(text string) State {
	words := strings.Split(strings.ToUpper(strings.TrimSpace(text)), "+")
	set := map[string]bool{}
	s := State{}
	for i, w := range words {
		for len(w) > 0 {
			flag, ok := stateMarks[w[len(w)-1]]
			if !ok {
				break
			}
			set[flag] = true
			w = w[:len(w)-1]
		}
		if other, ok := stateWords[w]; ok {
			w = other
		}
		switch {
		case w == "":
		case i == 0:
			s.Base = w
		default:
			set[w] = true
		}
	}
	for f := range set {
		s.Flags = append(s.Flags, f)
	}
	sort.Strings(s.Flags)
	return s
}

// Has tells whether the state has a flag.
func (s State) Has(flag string) bool {
	i := sort.SearchStrings(s.Flags, flag)
	return i < len(s.Flags) && s.Flags[i] == flag
}

// Responding tells whether slurmctld hears from the node's slurmd: it has
// registered and is not marked as silent.
func (s State) Responding() bool {
	return s.Base != BaseUnknown && s.Base != BaseFuture && !s.Has(FlagNotResponding)
}

// Usable tells whether a job could start on the node, reservations aside.
func (s State) Usable() bool {
	return s.Responding() && s.Base != BaseDown && s.Base != "ERROR" &&
		!s.Has(FlagDrain) && !s.Has("FAIL") && !s.Has(FlagInvalid)
}

// String writes the state as scontrol does.
func (s State) String() string {
	return strings.Join(append([]string{s.Base}, s.Flags...), "+")
}
