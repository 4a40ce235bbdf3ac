package config

import (
	"slices"
	"strings"
	"testing"
)

// paths are the places of problems that are no warnings, each once.
func paths(problems []Problem) []string {
	var all []string
	for _, p := range problems {
		if !p.Warning() && !slices.Contains(all, p.Path) {
			all = append(all, p.Path)
		}
	}
	return all
}

// judged are the problems of an environment of which a program uses some parts.
func judged(e *Environment, parts ...Part) []Problem {
	e.SetDefaults()
	v := &validator{env: e}
	v.constraints()
	v.rules(parts...)
	return v.problems
}

// TestCheckHosts checks what is judged, and what is left alone, where no
// scheduler is built.
func TestCheckHosts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Environment)
		want   []string
	}{
		"hosts alone":                   {func(*Environment) {}, nil},
		"the name is needed":            {func(e *Environment) { e.Name = "" }, []string{"name"}},
		"a profile that is not there":   {func(e *Environment) { e.Hosts[0].Profile = "x" }, []string{"hosts[0].profile"}},
		"hardware that cannot be":       {func(e *Environment) { e.Profiles["p"] = Profile{Sockets: 99, CoresPerSocket: 1, Memory: GiB} }, []string{"profiles.p.sockets"}},
		"a group that is not there":     {func(e *Environment) { e.Identity.Users[0].Group = "x" }, []string{"identity.users[0].group"}},
		"a home without a storage host": {func(e *Environment) { e.Home = &Home{Kind: HomeGlusterFS} }, []string{"home.kind"}},
		"a home with one": {func(e *Environment) {
			e.Home = &Home{Kind: HomeGlusterFS}
			e.Hosts[0].Roles = []Role{RoleStorage}
		}, nil},
		"a scheduler may be said": {func(e *Environment) { e.Scheduler = SchedulerSlurm }, nil},
		"but must be one":         {func(e *Environment) { e.Scheduler = "slrum" }, []string{"scheduler"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Environment{
				Name:     "e",
				Profiles: map[string]Profile{"p": {Sockets: 1, CoresPerSocket: 2, Memory: 4 * GiB}},
				Hosts:    []HostGroup{{Names: "h1", Profile: "p", Roles: []Role{RoleLogin}}},
				Identity: &Identity{Groups: []Group{{Name: "g", GID: 2000}}, Users: []User{{Name: "u", UID: 2000, Group: "g"}}},
			}
			c.change(e)
			err := Check(e)
			if (err == nil) != (len(c.want) == 0) {
				t.Fatalf("error %v, want problems at %q", err, c.want)
			}
			for _, path := range c.want {
				if !strings.Contains(err.Error(), "\n"+path+": ") {
					t.Errorf("no problem at %s in: %v", path, err)
				}
			}
		})
	}
}

// TestCheckParts checks that what a program does not use may be left out, and
// is judged where it is given.
func TestCheckParts(t *testing.T) {
	all := []Part{PartReach, PartScheduler}
	names := &Inventory{DNS: DNSHosts}
	wrong := &Inventory{Addresses: map[string]string{"gpu[1-9]": "10.0.0.[1-2]"}}
	for name, c := range map[string]struct {
		change func(*Environment)
		parts  []Part
		want   []string
	}{
		"everything":                       {func(*Environment) {}, all, nil},
		"no way to the hosts":              {func(e *Environment) { e.Lab = nil }, all, []string{""}},
		"connections of the program's own": {func(e *Environment) { e.Lab = nil }, []Part{PartScheduler}, nil},
		"names beside them":                {func(e *Environment) { e.Lab, e.Inventory = nil, names }, []Part{PartScheduler}, nil},
		"no keys":                          {func(e *Environment) { e.Lab, e.Inventory = nil, names }, all, []string{"inventory.ssh.hostKeys"}},
		"addresses that cannot be":         {func(e *Environment) { e.Lab, e.Inventory = nil, wrong }, []Part{PartScheduler}, []string{`inventory.addresses["gpu[1-9]"]`}},
		"both ways":                        {func(e *Environment) { e.Inventory = names }, nil, []string{"inventory"}},
		"a name that cannot be":            {func(e *Environment) { e.Name = "No" }, nil, []string{"name"}},
		"a slurm section that cannot be":   {func(e *Environment) { e.Slurm.Partitions = nil }, nil, []string{"slurm.partitions"}},
		"no slurm":                         {func(e *Environment) { e.Slurm = nil }, []Part{PartScheduler}, []string{"slurm"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := sample()
			c.change(e)
			if got := paths(judged(e, c.parts...)); !slices.Equal(got, c.want) {
				t.Errorf("problems at %q, want %q", got, c.want)
			}
		})
	}
}

// TestCheck checks that an error holds every problem with its hint, and that
// defaults need not be set before.
func TestCheck(t *testing.T) {
	e := sample()
	e.Slurm.ClusterName, e.Profiles["gpu"] = "", Profile{Sockets: 2, CoresPerSocket: 48, Memory: 2 << 20}
	if err := Check(e, PartReach, PartScheduler); err != nil || e.Slurm.ClusterName != "sample" || e.Profiles["gpu"].ThreadsPerCore != 1 {
		t.Errorf("error %v, cluster %q", err, e.Slurm.ClusterName)
	}
	e.Lab, e.Hosts[1].Profile = nil, "gqu"
	err := Check(e, PartReach, PartScheduler)
	want := `the environment "sample" is not valid:
neither lab nor inventory is given
  hint: write lab: {} for containers on this machine, or inventory: for hosts that exist
hosts[1].profile: profile "gqu" does not exist
  hint: did you mean "gpu"?`
	if err == nil || err.Error() != want {
		t.Errorf("got:\n%v\nwant:\n%s", err, want)
	}
	if Check(nil) == nil {
		t.Error("nothing at all is taken")
	}
}
