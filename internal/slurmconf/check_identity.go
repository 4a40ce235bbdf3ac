package slurmconf

import (
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

func checkIdentity(r *report, c Cluster) {
	switch {
	case c.Version.IsZero():
		r.add("version", "", "write one of "+supportedText(), "no Slurm version")
	case !c.Version.IsSupported():
		r.add("version", "", "write one of "+supportedText(), "Slurm %s is not supported", c.Version)
	}
	if !c.OldestReader.IsZero() && c.OldestReader.Compare(c.Version) > 0 {
		r.add("oldestReader", "", "upgrade slurmdbd, then slurmctld, then hosts", "hosts run %s, newer than slurmctld's %s", c.OldestReader, c.Version)
	}
	if bad := strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789_-"); c.Name == "" || bad != "" || len(c.Name) > 40 {
		r.add("name", "ClusterName", "use at most 40 lower case letters, digits, \"-\" and \"_\"", "cluster name %q", c.Name)
	}
	if len(c.Controllers) == 0 {
		r.add("controllers", "SlurmctldHost", "name the host that runs slurmctld", "no controller")
	}
	seen := map[string]int{}
	for i, ctl := range c.Controllers {
		path := fmt.Sprintf("controllers[%d].name", i)
		checkName(r, path, "SlurmctldHost", "controller", ctl.Name)
		if first, ok := seen[ctl.Name]; ok {
			r.add(path, "SlurmctldHost", "name each controller once", "controller %q is already controllers[%d]", ctl.Name, first)
			continue
		}
		seen[ctl.Name] = i
	}
}

func supportedText() string {
	out := make([]string, len(Supported))
	for i, v := range Supported {
		out[i] = v.String()
	}
	return strings.Join(out, ", ")
}

// checkName reports a name that Slurm's host lists cannot carry.
func checkName(r *report, path, key, what, name string) bool {
	err := hostlist.Check(name)
	if err == nil {
		return true
	}
	hint, reason := "", err.Error()
	if e, ok := err.(*hostlist.Error); ok {
		hint, reason = e.Hint(), string(e.Kind)
	}
	r.add(path, key, hint, "%s name %q: %s", what, name, reason)
	return false
}
