// Package problem collects everything that is wrong with a description, so that
// it is reported at once.
package problem

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a description.
type Problem struct {
	// Path to the field in terms of what is described, such as "workers[2].labels".
	Path string
	// What is wrong, and Hint what to write instead.
	What, Hint string
}

func (p Problem) String() string {
	if p.Hint == "" {
		return p.Path + ": " + p.What
	}
	return p.Path + ": " + p.What + "; " + p.Hint
}

// List is every problem of a description, as an error.
type List []Problem

func (l List) Error() string {
	lines := make([]string, len(l))
	for i, p := range l {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Report collects problems.
type Report struct{ Problems List }

// Add adds a problem. The hint may be empty.
func (r *Report) Add(path, hint, format string, args ...any) {
	r.Problems = append(r.Problems, Problem{Path: path, Hint: hint, What: fmt.Sprintf(format, args...)})
}
