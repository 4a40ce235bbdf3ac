package impact

import (
	"fmt"
	"sort"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// Action is what a change asks for, on the hosts that an [Effect] names.
type Action string

// The actions, in the order in which a run does them.
const (
	// Refuse: the change cannot be made while the cluster exists.
	Refuse Action = "refuse"
	// Empty: the partition has to be free of jobs, which end with it.
	Empty Action = "wait for the partition's jobs"
	// Drain: the hosts have to be free of jobs first.
	Drain Action = "drain and wait"
	// Leave: the hosts leave the cluster once they are free of jobs.
	Leave Action = "leave"
	// RestartDatabase restarts slurmdbd; slurmctld keeps what it has to tell.
	RestartDatabase Action = "restart slurmdbd"
	// Place: the file is placed on the hosts and no daemon is told.
	Place Action = "place file"
	// Reconfigure is "scontrol reconfigure".
	Reconfigure Action = "reconfigure"
	// RestartController restarts slurmctld; jobs go on.
	RestartController Action = "restart slurmctld"
	// RestartHosts restarts slurmd; jobs go on.
	RestartHosts Action = "restart slurmd"
	// Join: the hosts join, closed until a job of ours has run on them.
	Join Action = "join, closed until checked"
)

var order = []Action{
	Refuse, Empty, Drain, Leave, RestartDatabase, Place, Reconfigure, RestartController, RestartHosts, Join,
}

// Effect is an action and the hosts that it touches.
type Effect struct {
	Action Action
	// Hosts in natural order.
	Hosts []string
}

// Change is one difference between two sets.
type Change struct {
	// File that differs.
	File string
	// Record it is in, such as "partition train" or "node"; empty for a key of
	// the file itself.
	Record string
	// Hosts that the record is about, for nodes.
	Hosts []string
	// Key that differs, and its values; From is empty where it is new, To
	// where it is gone. Key is empty where the whole record comes or goes.
	Key, From, To string
	// Effects in the order of the actions.
	Effects []Effect
	// Why says what is not plain to see; may be empty.
	Why string
}

// Plan is every difference between two sets.
type Plan struct {
	Changes []Change
}

// None tells whether the sets are the same to Slurm.
func (p Plan) None() bool { return len(p.Changes) == 0 }

// Needs tells whether a change asks for the action.
func (p Plan) Needs(a Action) bool {
	for _, c := range p.Changes {
		for _, e := range c.Effects {
			if e.Action == a {
				return true
			}
		}
	}
	return false
}

// Hosts are all hosts that the action touches, in natural order.
func (p Plan) Hosts(a Action) []string {
	seen := map[string]bool{}
	var out []string
	for _, c := range p.Changes {
		for _, e := range c.Effects {
			if e.Action != a {
				continue
			}
			for _, h := range e.Hosts {
				if !seen[h] {
					seen[h] = true
					out = append(out, h)
				}
			}
		}
	}
	hostlist.Sort(out)
	return out
}

// Touched are the hosts that the plan does anything on, in natural order.
func (p Plan) Touched() []string {
	var all []string
	seen := map[string]bool{}
	for _, a := range order {
		for _, h := range p.Hosts(a) {
			if !seen[h] {
				seen[h] = true
				all = append(all, h)
			}
		}
	}
	hostlist.Sort(all)
	return all
}

// Refused are the changes that cannot be made.
func (p Plan) Refused() []Change {
	var out []Change
	for _, c := range p.Changes {
		for _, e := range c.Effects {
			if e.Action == Refuse {
				out = append(out, c)
			}
		}
	}
	return out
}

// Summary is one line an action with the hosts it touches, in the order in
// which a run does them. A reconfigure goes without saying where slurmctld
// restarts anyway.
func (p Plan) Summary() []string {
	var out []string
	for _, a := range order {
		if !p.Needs(a) || a == Reconfigure && p.Needs(RestartController) {
			continue
		}
		line := string(a)
		if hosts := p.Hosts(a); len(hosts) > 0 {
			line += " on " + hostlist.Compress(hosts)
		}
		out = append(out, line)
	}
	return out
}

// String writes the plan for people: each change with its effects.
func (p Plan) String() string {
	if p.None() {
		return "no change\n"
	}
	var b strings.Builder
	for _, c := range p.Changes {
		b.WriteString(c.String() + "\n")
		for _, e := range c.Effects {
			fmt.Fprintf(&b, "  %s", e.Action)
			if len(e.Hosts) > 0 {
				fmt.Fprintf(&b, ": %s", hostlist.Compress(e.Hosts))
			}
			b.WriteByte('\n')
		}
		if c.Why != "" {
			fmt.Fprintf(&b, "  (%s)\n", c.Why)
		}
	}
	b.WriteString("in all\n")
	for _, line := range p.Summary() {
		b.WriteString("  " + line + "\n")
	}
	return b.String()
}

// String writes the change in one line.
func (c Change) String() string {
	where := c.File
	if c.Record != "" {
		where += ": " + c.Record
	}
	if len(c.Hosts) > 0 {
		where += " " + hostlist.Compress(c.Hosts)
	}
	switch {
	case c.Key == "" && c.From == "" && c.To == "":
		return where + " changed"
	case c.Key == "":
		return where + " " + c.From + c.To
	case c.From == "" && c.To == "":
		return where + ": " + c.Key + " changed"
	case c.From == "":
		return where + ": " + c.Key + " set to " + c.To
	case c.To == "":
		return where + ": " + c.Key + " removed (was " + c.From + ")"
	}
	return where + ": " + c.Key + " " + c.From + " -> " + c.To
}

// effects sorts by the order of the actions and drops what has no host that
// could be touched, except a refusal.
func effects(list ...Effect) []Effect {
	var out []Effect
	for _, e := range list {
		if len(e.Hosts) > 0 || e.Action == Refuse || e.Action == Empty {
			out = append(out, e)
		}
	}
	rank := map[Action]int{}
	for i, a := range order {
		rank[a] = i
	}
	sort.SliceStable(out, func(i, j int) bool { return rank[out[i].Action] < rank[out[j].Action] })
	return out
}
