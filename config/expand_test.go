package config

import (
	"slices"
	"testing"
)

func TestAllHosts(t *testing.T) {
	env := &Environment{
		Profiles: map[string]Profile{
			"gpu":   {Features: []string{"ib"}, GPUs: []GPU{{Type: "h100", Count: 8}, {Type: "a30", Count: 2}}},
			"small": {},
		},
		Inventory: &Inventory{Addresses: map[string]string{"gpu[1-2]": "10.0.0.[11-12]", "ctl1": "10.0.0.1"}},
		Hosts: []HostGroup{
			{Names: "ctl[2,1]", Profile: "small", Roles: []Role{RoleController, RoleDatabase}},
			{Names: "gpu[1-2]", Profile: "gpu", Roles: []Role{RoleCompute}, Features: []string{"new"}, Weight: 3},
		},
	}
	hosts := env.AllHosts()
	var names, addresses []string
	for _, h := range hosts {
		names, addresses = append(names, h.Name), append(addresses, h.Address)
	}
	if want := []string{"ctl2", "ctl1", "gpu1", "gpu2"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q in the order written", names, want)
	}
	if want := []string{"", "10.0.0.1", "10.0.0.11", "10.0.0.12"}; !slices.Equal(addresses, want) {
		t.Errorf("addresses %q, want %q", addresses, want)
	}
	gpu := hosts[2]
	if gpu.GPUs() != 10 || gpu.Weight != 3 || !slices.Equal(gpu.Features, []string{"ib", "new"}) || gpu.Group != 1 {
		t.Errorf("gpu1 = %+v", gpu)
	}
	if primary := env.HostsWithRole(RoleController)[0].Name; primary != "ctl2" {
		t.Errorf("primary %s, want the first listed", primary)
	}
	if len(env.HostsWithRole(RoleLogin)) != 0 {
		t.Error("found a login host where there is none")
	}
}

func TestRelease(t *testing.T) {
	for version, want := range map[string]string{"22.05": "bookworm", "24.11": "trixie", "26.05": "trixie"} {
		env := &Environment{Slurm: &Slurm{Version: version}}
		if got := env.Release(); got != want {
			t.Errorf("Release() with Slurm %s = %s, want %s", version, got, want)
		}
	}
}
