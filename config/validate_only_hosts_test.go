package config

import (
	"slices"
	"testing"
)

// TestValidateHosts checks what is judged, and what is left alone, where no
// scheduler is built.
func TestValidateHosts(t *testing.T) {
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
			e.SetDefaults()
			var got []string
			for _, p := range e.ValidateHosts() {
				if p.Kind != KindWarning && !slices.Contains(got, p.Path) {
					got = append(got, p.Path)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("problems at %q, want %q", got, c.want)
			}
		})
	}
}
