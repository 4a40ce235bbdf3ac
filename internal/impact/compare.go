package impact

import (
	"sort"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// Compare says what it takes to go from the set that was applied last to the
// next one. A previous set without files gives a plan in which every host
// joins. The error is of a file that cannot be read.
func Compare(previous, next Set) (Plan, error) {
	from, err := parse(previous)
	if err != nil {
		return Plan{}, err
	}
	to, err := parse(next)
	if err != nil {
		return Plan{}, err
	}
	c := &comparison{from: from, to: to, rules: rulesFor(next.Version)}
	if len(previous.Files) == 0 {
		c.fresh()
		return Plan{Changes: c.changes}, nil
	}
	c.version()
	c.keys()
	c.nodes()
	c.records("partition", from.partitions, to.partitions)
	c.records("node set", from.nodeSets, to.nodeSets)
	c.gres()
	c.files()
	return Plan{Changes: c.changes}, nil
}

type comparison struct {
	from, to *parsed
	rules    rules
	changes  []Change
}

func (c *comparison) add(change Change) {
	change.Effects = effects(change.Effects...)
	c.changes = append(c.changes, change)
}

func (c *comparison) fresh() {
	c.add(Change{File: "slurm.conf", Record: "cluster", To: "made", Effects: []Effect{
		{RestartDatabase, c.to.database}, {RestartController, c.to.controllers}, {Join, c.to.hosts()},
	}})
}

// reach are the effects of a rule: on the controllers, or on every host that
// stays.
func (c *comparison) reach(r rule) []Effect {
	var out []Effect
	for _, a := range r.actions {
		switch a {
		case RestartHosts, Drain:
			out = append(out, Effect{a, c.staying()})
		default:
			out = append(out, Effect{a, c.to.controllers})
		}
	}
	return out
}

// staying are the hosts that are in both sets.
func (c *comparison) staying() []string {
	before := map[string]bool{}
	for _, h := range c.from.hosts() {
		before[h] = true
	}
	var out []string
	for _, h := range c.to.hosts() {
		if before[h] {
			out = append(out, h)
		}
	}
	return out
}

// noUpgrade says why a built cluster keeps its release, and what can be done.
const noUpgrade = "a cluster is not upgraded in place; build another environment with the new release beside it, or keep the records " +
	"(mariadb-dump slurm_acct_db >records.sql on the database's host), destroy this one and build it anew; until then put slurm.version back"

func (c *comparison) version() {
	from, to := c.from.Version, c.to.Version
	if from == to || from.IsZero() {
		return
	}
	c.add(Change{
		File: "slurm.conf", Record: "release", Key: "version", From: from.String(), To: to.String(),
		Effects: []Effect{{Refuse, nil}}, Why: noUpgrade,
	})
}

// keys compares the keys of slurm.conf itself.
func (c *comparison) keys() {
	for _, low := range unionKeys(c.from.keys, c.to.keys) {
		was, is := c.from.keys[low], c.to.keys[low]
		if was.value == is.value {
			continue
		}
		name := is.key
		if name == "" {
			name = was.key
		}
		r := c.rules.key(low)
		c.add(Change{File: "slurm.conf", Key: name, From: was.value, To: is.value, Effects: c.reach(r), Why: r.why})
	}
}

// records compares partitions or node sets.
func (c *comparison) records(what string, from, to map[string]map[string]string) {
	reconfigure := []Effect{{Reconfigure, c.to.controllers}}
	for _, name := range unionKeys(from, to) {
		was, had := from[name]
		is, has := to[name]
		switch {
		case !had:
			c.add(Change{File: "slurm.conf", Record: what + " " + name, To: "added", Effects: reconfigure})
		case !has:
			change := Change{File: "slurm.conf", Record: what + " " + name, From: "removed", Effects: reconfigure}
			if what == "partition" {
				change.Effects = append([]Effect{{Action: Empty}}, reconfigure...)
				change.Why = "slurmctld ends the jobs of a partition that is gone"
			}
			c.add(change)
		default:
			for _, key := range unionKeys(was, is) {
				if was[key] != is[key] {
					c.add(Change{File: "slurm.conf", Record: what + " " + name, Key: slurmconf.Spelling("partition", key), From: was[key], To: is[key], Effects: reconfigure})
				}
			}
		}
	}
}

func unionKeys[V any](a, b map[string]V) []string {
	seen := make(map[string]bool, len(a)+len(b))
	var out []string
	for _, m := range []map[string]V{a, b} {
		for k := range m {
			if !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return hostlist.Less(out[i], out[j]) })
	return out
}

func unique(names []string) []string {
	seen := map[string]bool{}
	var out []string
	for _, n := range names {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	hostlist.Sort(out)
	return out
}
