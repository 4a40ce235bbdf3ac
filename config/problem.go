package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind classifies a problem, for programs; people read What and Hint.
type Kind string

// The kinds of problem.
const (
	// KindSyntax means that the file is not YAML.
	KindSyntax Kind = "syntax"
	// KindUnknownKey is a key that means nothing here.
	KindUnknownKey Kind = "unknown-key"
	// KindType is a value of the wrong type.
	KindType Kind = "wrong-type"
	// KindDuplicate is a thing said twice.
	KindDuplicate Kind = "duplicate"
	// KindMissing is a required value that is absent.
	KindMissing Kind = "missing"
	// KindInvalid is a value that cannot be right.
	KindInvalid Kind = "invalid"
	// KindReference names something that does not exist.
	KindReference Kind = "dangling-reference"
	// KindCollision is a name that something else has.
	KindCollision Kind = "collision"
	// KindConflict is a pair of settings that exclude each other.
	KindConflict Kind = "conflict"
	// KindHardware is hardware that cannot exist.
	KindHardware Kind = "impossible-hardware"
	// KindSecret is a secret in clear text.
	KindSecret Kind = "plain-secret"
	// KindUnavailable is a feature that this release, or the Slurm release
	// asked for, does not have.
	KindUnavailable Kind = "unavailable"
	// KindWarning does not stop anything.
	KindWarning Kind = "warning"
)

// Problem is one thing that is wrong with an environment.
type Problem struct {
	// File, Line and Column say where, counted from 1; all empty for an
	// environment built in Go.
	File         string
	Line, Column int
	// Path of the value, for example "slurm.partitions[1].maxTime".
	Path string
	// Offset is the byte within the value at which the problem stands.
	Offset int
	// atKey points at the key instead of its value.
	atKey bool
	// What is wrong.
	What string
	// Hint says what to write instead; may be empty.
	Hint string
	// Kind classifies the problem.
	Kind Kind
}

// String is the problem on one line, without the hint.
func (p Problem) String() string {
	var parts []string
	if p.File != "" {
		parts = append(parts, fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column))
	}
	if p.Warning() {
		parts = append(parts, "warning")
	}
	if p.Path != "" {
		parts = append(parts, p.Path)
	}
	return strings.Join(append(parts, p.What), ": ")
}

// Warning reports whether the problem is only worth knowing.
func (p Problem) Warning() bool { return p.Kind == KindWarning }

// sortProblems orders problems by position, then path, then text.
func sortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Path, b.Path), cmp.Compare(a.What, b.What))
	})
}
