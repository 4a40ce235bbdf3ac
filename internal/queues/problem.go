package queues

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a cluster's description.
type Problem struct {
	// Path to the field in terms of [Cluster], such as "teams[2].quotas[0].lending".
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

// Problems is every problem of a cluster, as an error.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// report collects problems.
type report struct{ problems Problems }

func (r *report) add(path, hint, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: path, Hint: hint, What: fmt.Sprintf(format, args...)})
}
