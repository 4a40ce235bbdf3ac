package impact

import (
	"fmt"
	"sort"
	"strings"
)

// files compares the files whose records need no reading one by one.
func (c *comparison) files() {
	for _, name := range unionKeys(c.from.Files, c.to.Files) {
		was, is := c.from.Files[name], c.to.Files[name]
		if name == "slurm.conf" || name == "gres.conf" || meaning(name, was) == meaning(name, is) {
			continue
		}
		change := Change{File: name, Effects: c.fileEffects(name)}
		switch {
		case was == "":
			change.To = "added"
		case is == "":
			change.From = "removed"
		default:
			change.Why = difference(name, was, is)
		}
		c.add(change)
	}
	c.loginCopies()
}

func (c *comparison) fileEffects(name string) []Effect {
	modern := c.to.Version.ReconfigureTakesNodes()
	reconfigure := Effect{Reconfigure, c.to.controllers}
	switch {
	case name == "slurmdbd.conf":
		return []Effect{{RestartDatabase, unique(append(append([]string{}, c.from.database...), c.to.database...))}}
	case strings.HasSuffix(name, ".sh") && !c.to.Version.ConfiglessPushesScripts():
		return []Effect{{Place, c.staying()}}
	case name == "topology.conf" && !modern:
		return []Effect{{RestartController, c.to.controllers}}
	case (name == "cgroup.conf" || name == "job_container.conf") && !modern:
		return []Effect{reconfigure, {RestartHosts, c.staying()}}
	}
	return []Effect{reconfigure}
}

// loginCopies: login hosts below 24.05 hold copies of some files.
func (c *comparison) loginCopies() {
	if c.to.Version.HasSackd() || len(c.to.Login) == 0 {
		return
	}
	for _, name := range []string{"slurm.conf", "plugstack.conf"} {
		if c.from.Files[name] != c.to.Files[name] {
			c.add(Change{File: name, Record: "copy on login hosts", Effects: []Effect{{Place, c.to.Login}}})
		}
	}
}

// meaning is what Slurm reads of a file: comments and blank lines are nothing,
// except in scripts.
func meaning(name, text string) string {
	if strings.HasSuffix(name, ".sh") {
		return text
	}
	return strings.Join(meaningful(text), "\n")
}

func meaningful(text string) []string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

// difference counts the lines that come and go.
func difference(name, was, is string) string {
	if strings.HasSuffix(name, ".sh") {
		return ""
	}
	count := map[string]int{}
	for _, l := range meaningful(was) {
		count[l]--
	}
	for _, l := range meaningful(is) {
		count[l]++
	}
	var lines []string
	for l, n := range count {
		switch {
		case n < 0:
			lines = append(lines, "-"+l)
		case n > 0:
			lines = append(lines, "+"+l)
		}
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i][1:]+lines[i][:1] < lines[j][1:]+lines[j][:1] })
	const most = 4
	if len(lines) > most {
		return fmt.Sprintf("%s and %d lines more", strings.Join(lines[:most], ", "), len(lines)-most)
	}
	return strings.Join(lines, ", ")
}
