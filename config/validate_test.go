package config

import (
	"slices"
	"testing"
)

// sample is an environment built in Go, as a program that imports the
// components builds it.
func sample() *Environment {
	env := &Environment{
		Name: "sample", Scheduler: SchedulerSlurm, Lab: &Lab{},
		Profiles: map[string]Profile{
			"small": {Sockets: 1, CoresPerSocket: 2, Memory: 4096},
			"gpu":   {Sockets: 2, CoresPerSocket: 48, Memory: 2 << 20, GPUs: []GPU{{Type: "h100", Count: 8}}},
		},
		Hosts: []HostGroup{
			{Names: "ctl1", Profile: "small", Roles: []Role{RoleController, RoleDatabase}},
			{Names: "gpu[1-4]", Profile: "gpu", Roles: []Role{RoleCompute}},
		},
		Slurm: &Slurm{
			Version:    "24.11",
			Partitions: []Partition{{Name: "train", Hosts: "gpu[1-4]", Default: true}},
		},
	}
	env.SetDefaults()
	return env
}

// Without a file, problems have paths and kinds, and no position.
func TestValidateInGo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Environment)
		want   []string
	}{
		"fine":             {func(*Environment) {}, nil},
		"no name":          {func(e *Environment) { e.Name = "" }, []string{"missing name"}},
		"zero sockets":     {func(e *Environment) { e.Profiles["gpu"] = Profile{CoresPerSocket: 1, Memory: 1024} }, []string{"missing profiles.gpu.sockets"}},
		"negative sockets": {func(e *Environment) { e.Profiles["gpu"] = Profile{Sockets: -1, CoresPerSocket: 1, Memory: 1024} }, []string{"impossible-hardware profiles.gpu.sockets"}},
		"no host":          {func(e *Environment) { e.Hosts = nil }, []string{"missing hosts"}},
		"unknown role":     {func(e *Environment) { e.Hosts[1].Roles = []Role{"wroker"} }, []string{"invalid hosts[1].roles[0]"}},
		"dangling profile": {func(e *Environment) { e.Hosts[1].Profile = "x" }, []string{"dangling-reference hosts[1].profile", "warning profiles.gpu"}},
		"dangling hosts":   {func(e *Environment) { e.Slurm.Partitions[0].Hosts = "gpu[4-5]" }, []string{"dangling-reference slurm.partitions[0].hosts", "warning slurm.partitions"}},
		"collision":        {func(e *Environment) { e.Slurm.Partitions[0].Name = "gpu1" }, []string{"collision slurm.partitions[0].name"}},
		"hybrid":           {func(e *Environment) { e.Scheduler = SchedulerHybrid }, []string{"unavailable scheduler"}},
		"kubernetes": {func(e *Environment) { e.Scheduler = SchedulerKubernetes }, []string{
			"missing kubernetes", "conflict slurm", "conflict hosts[0].roles[0]", "conflict hosts[0].roles[1]", "conflict hosts[1].roles[0]",
		}},
		"several at once": {func(e *Environment) {
			e.Name, e.Slurm.Version, e.Slurm.Partitions[0].MaxTime = "", "20.11", "long"
		}, []string{"missing name", "invalid slurm.version", "invalid slurm.partitions[0].maxTime"}},
	} {
		t.Run(name, func(t *testing.T) {
			env := sample()
			c.change(env)
			env.SetDefaults()
			var got []string
			for _, p := range env.Validate() {
				got = append(got, string(p.Kind)+" "+p.Path)
				if p.Line != 0 || p.Column != 0 || p.File != "" {
					t.Errorf("a position without a file: %+v", p)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
