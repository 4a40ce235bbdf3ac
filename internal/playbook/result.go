package playbook

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Result is what a run did.
type Result struct {
	// Hosts holds every host of the request.
	Hosts map[string]*HostResult `json:"hosts"`
}

// HostResult is what a run did on one host.
type HostResult struct {
	// Changed lists what changed, in order: a task's name, or the task's name
	// and the thing, where a task handles several.
	Changed []string `json:"changed,omitempty"`
	// Failure is nil when the host came to the end.
	Failure *Failure `json:"failure,omitempty"`
	// Reports holds what tasks found, by the name that they give it.
	Reports map[string]json.RawMessage `json:"reports,omitempty"`
}

// Failure is why a host did not come to the end.
type Failure struct {
	// Host by name.
	Host string `json:"host"`
	// Task that failed.
	Task string `json:"task"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Problems lists every single finding, where a task checks several things.
	Problems []string `json:"problems,omitempty"`
	// Unreachable reports that the host gave no answer over SSH.
	Unreachable bool `json:"unreachable,omitempty"`
}

// String is the failure on one line or, with problems, on one line each.
func (f Failure) String() string {
	if len(f.Problems) == 0 {
		return fmt.Sprintf("%s: %s: %s", f.Host, f.Task, f.Message)
	}
	lines := make([]string, len(f.Problems))
	for i, p := range f.Problems {
		lines[i] = fmt.Sprintf("%s: %s: %s", f.Host, f.Task, p)
	}
	return strings.Join(lines, "\n")
}

// Error says that hosts failed.
type Error struct {
	// Playbook that was run.
	Playbook Playbook
	// Failures holds one entry for each failed host, sorted by host.
	Failures []Failure
}

// Error lists every failure, each on lines of its own.
func (e *Error) Error() string {
	lines := make([]string, len(e.Failures))
	for i, f := range e.Failures {
		lines[i] = f.String()
	}
	return fmt.Sprintf("playbook %s failed on %d host(s):\n%s", e.Playbook, len(e.Failures), strings.Join(lines, "\n"))
}

// Changes counts what changed on all hosts.
func (r Result) Changes() int {
	n := 0
	for _, h := range r.Hosts {
		n += len(h.Changed)
	}
	return n
}

// failures lists the failed hosts, sorted.
func (r Result) failures() []Failure {
	var all []Failure
	for _, h := range r.Hosts {
		if h.Failure != nil {
			all = append(all, *h.Failure)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Host < all[j].Host })
	return all
}
