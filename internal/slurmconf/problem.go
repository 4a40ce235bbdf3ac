package slurmconf

import (
	"fmt"
	"strings"
)

// Severity tells an error from advice.
type Severity int

// A problem is an Error where Slurm refuses or misreads the file, and Advice
// where the cluster works and only serves less well.
const (
	Error Severity = iota
	Advice
)

// Problem is one thing wrong with a cluster's description.
type Problem struct {
	// Path to the field in terms of [Cluster], such as
	// `partitions[2].nodes` or `extra."slurm.conf".FastSchedule`.
	Path string
	// File and Key that the field is rendered as, where there is one.
	File, Key string
	// What is wrong, and Hint what to write instead.
	What, Hint string
	Severity   Severity
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

// Errors returns those that are not advice.
func (ps Problems) Errors() Problems {
	var out Problems
	for _, p := range ps {
		if p.Severity == Error {
			out = append(out, p)
		}
	}
	return out
}

// report collects problems.
type report struct{ problems Problems }

func (r *report) add(path, key, hint, format string, args ...any) {
	r.problems = append(r.problems, Problem{Path: path, File: "slurm.conf", Key: key, Hint: hint, What: fmt.Sprintf(format, args...)})
}

func (r *report) advise(path, key, hint, format string, args ...any) {
	r.add(path, key, hint, format, args...)
	r.problems[len(r.problems)-1].Severity = Advice
}

// in sets the file of the problems added by f.
func (r *report) in(file string, f func()) {
	from := len(r.problems)
	f()
	for i := from; i < len(r.problems); i++ {
		r.problems[i].File = file
	}
}
