package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// kubernetesSample is the least that a cluster needs, built in Go.
func kubernetesSample() *Environment {
	env := &Environment{
		Name: "sample", Scheduler: SchedulerKubernetes, Lab: &Lab{},
		Profiles: map[string]Profile{
			"small": {Sockets: 1, CoresPerSocket: 2, Memory: 4 * GiB},
			"gpu":   {Sockets: 2, CoresPerSocket: 48, Memory: 2 * TiB, GPUs: []GPU{{Type: "h100", Count: 8}}},
		},
		Hosts: []HostGroup{
			{Names: "ctl1", Profile: "small", Roles: []Role{RoleControlPlane}},
			{Names: "gpu[1-4]", Profile: "gpu", Roles: []Role{RoleWorker}},
		},
		Identity:   &Identity{Groups: []Group{{Name: "g", GID: 2000}}, Users: []User{{Name: "u", UID: 2000, Group: "g"}}},
		Kubernetes: &Kubernetes{Version: "1.36"},
	}
	env.SetDefaults()
	return env
}

func team(change func(*Team)) func(*Environment) {
	return func(e *Environment) {
		t := Team{Name: "t", Users: []string{"u"}, GPUs: map[string]GPUQuota{"h100": {Nominal: 8}}}
		change(&t)
		e.Kubernetes.Teams = append(e.Kubernetes.Teams, t)
	}
}

// Without a file, problems of Kubernetes have paths and kinds, in the same order
// every time.
func TestValidateKubernetesInGo(t *testing.T) {
	four := 4
	three := func(e *Environment) { e.Hosts[0].Names = "ctl[1-3]" }
	for name, c := range map[string]struct {
		change func(*Environment)
		want   []string
	}{
		"fine":              {func(*Environment) {}, nil},
		"fine, with a team": {team(func(*Team) {}), nil},
		"no section":        {func(e *Environment) { e.Kubernetes = nil }, []string{"missing kubernetes"}},
		"no worker":         {func(e *Environment) { e.Hosts = e.Hosts[:1] }, []string{"warning profiles.gpu", "missing hosts"}},
		"no control plane":  {func(e *Environment) { e.Hosts = e.Hosts[1:] }, []string{"warning profiles.small", "missing hosts"}},
		"a role of Slurm":   {func(e *Environment) { e.Hosts[1].Roles = []Role{RoleCompute} }, []string{"conflict hosts[1].roles[0]"}},
		"storage is allowed": {func(e *Environment) {
			e.Hosts[0].Roles = append(e.Hosts[0].Roles, RoleStorage)
			e.Home = &Home{Kind: HomeGlusterFS}
		}, nil},
		"no login host": {func(e *Environment) { e.Hosts[0].Roles = append(e.Hosts[0].Roles, RoleLogin) }, []string{"conflict hosts[0].roles[1]"}},
		"both roles":    {func(e *Environment) { e.Hosts[0].Roles = append(e.Hosts[0].Roles, RoleWorker) }, []string{"conflict hosts[0].roles"}},
		"GPUs of a control plane": {func(e *Environment) { e.Hosts[0].Profile = "gpu" }, []string{
			"warning profiles.small", "warning hosts[0].profile",
		}},
		"three without an endpoint": {func(e *Environment) { three(e); e.Kubernetes.Endpoint = "" }, nil},
		"one that may be three":     {func(e *Environment) { e.Kubernetes.Endpoint = "127.0.0.1:6444" }, nil},
		"loopback, another port":    {func(e *Environment) { three(e); e.Kubernetes.Endpoint = "127.0.0.1:6443" }, []string{"invalid kubernetes.endpoint"}},
		"loopback by name":          {func(e *Environment) { three(e); e.Kubernetes.Endpoint = "localhost:6444" }, []string{"invalid kubernetes.endpoint"}},
		"three with one":            {func(e *Environment) { three(e); e.Kubernetes.Endpoint = "10.0.0.5" }, nil},
		"a lone host's own name":    {func(e *Environment) { e.Kubernetes.Endpoint = "ctl1" }, nil},
		"with another port":         {func(e *Environment) { e.Kubernetes.Endpoint = "ctl1:443" }, []string{"conflict kubernetes.endpoint"}},
		"no endpoint at all":        {func(e *Environment) { e.Kubernetes.Endpoint = "999.1.1.1" }, []string{"invalid kubernetes.endpoint"}},
		"no quota is left":          {team(func(t *Team) { t.GPUs["h100"] = GPUQuota{Nominal: 33} }), []string{"conflict kubernetes.teams[0].gpus.h100"}},
		"all quota is used":         {team(func(t *Team) { t.GPUs["h100"] = GPUQuota{Nominal: 32} }), nil},
		"limits without a cohort": {team(func(t *Team) { t.GPUs["h100"] = GPUQuota{Nominal: 8, BorrowingLimit: &four, LendingLimit: &four} }), []string{
			"conflict kubernetes.teams[0].gpus.h100.borrowingLimit", "conflict kubernetes.teams[0].gpus.h100.lendingLimit",
		}},
		"alone in a cohort": {team(func(t *Team) { t.Cohort = "c" }), []string{"warning kubernetes.teams[0].cohort"}},
		"an unknown member": {team(func(t *Team) { t.Users = []string{"u", "x"} }), []string{"dangling-reference kubernetes.teams[0].users[1]"}},
		"no queueing": {func(e *Environment) {
			team(func(t *Team) { t.Cohort = "c" })(e)
			e.Kubernetes.Queueing = QueueingNone
		}, []string{"conflict kubernetes.preemption", "conflict kubernetes.teams[0].cohort", "conflict kubernetes.teams[0].gpus"}},
		"charts in the checkout": {func(e *Environment) { e.Artifacts.Charts = "charts/" }, nil},
		"charts on one machine":  {func(e *Environment) { e.Artifacts.Charts = "/srv/charts" }, []string{"invalid artifacts.charts"}},
		"a secret within a URL":  {func(e *Environment) { e.Artifacts.APT = "https://u:canary@x" }, []string{"plain-secret artifacts.apt"}},
		"a GPU type called none": {func(e *Environment) { e.Profiles["gpu"].GPUs[0].Type = "none" }, []string{"invalid profiles.gpu.gpus[0].type"}},
		"a GPU type with a line": {func(e *Environment) { e.Profiles["gpu"].GPUs[0].Type = "h_100" }, []string{"invalid profiles.gpu.gpus[0].type"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				env := kubernetesSample()
				c.change(env)
				var got []string
				for _, p := range env.Validate() {
					got = append(got, string(p.Kind)+" "+p.Path)
					if strings.Contains(p.What+p.Hint, "canary") {
						t.Errorf("a secret is shown: %s", p)
					}
				}
				if !slices.Equal(got, c.want) {
					t.Fatalf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

// A queue of Kueue has at most 64 flavours, and each type of GPU is one.
func TestTooManyTypesOfGPU(t *testing.T) {
	env := kubernetesSample()
	gpus := map[string]GPUQuota{}
	env.Hosts = env.Hosts[:1]
	for i := range maxFlavors + 1 {
		name := fmt.Sprintf("t%d", i)
		env.Profiles[name] = Profile{Sockets: 1, CoresPerSocket: 2, Memory: GiB, GPUs: []GPU{{Type: name, Count: 1}}}
		env.Hosts = append(env.Hosts, HostGroup{Names: fmt.Sprintf("w%d", i), Profile: name, Roles: []Role{RoleWorker}})
		gpus[name] = GPUQuota{Nominal: 1}
	}
	delete(env.Profiles, "gpu")
	delete(env.Kubernetes.SystemReserved, "gpu")
	env.Kubernetes.Teams = []Team{{Name: "t", Users: []string{"u"}, GPUs: gpus}}
	env.SetDefaults()
	problems := env.Validate()
	if len(problems) != 1 || problems[0].Path != "kubernetes.teams[0].gpus" || !strings.Contains(problems[0].What, "at most 64") {
		t.Errorf("got %v", problems)
	}
}

// What Kubernetes learns of the fabric are labels of hosts, and Kueue reads 16 of
// them, the host's name included.
func TestFabricOfKubernetes(t *testing.T) {
	chain := func(n int) (list []Switch) {
		list = append(list, Switch{Name: "s1", Hosts: "gpu[1-4]"})
		for i := 2; i <= n; i++ {
			list = append(list, Switch{Name: fmt.Sprintf("s%d", i), Switches: fmt.Sprintf("s%d", i-1)})
		}
		return list
	}
	for name, c := range map[string]struct {
		switches []Switch
		queueing Queueing
		want     []string
	}{
		"as deep as can be":    {chain(maxLevels), QueueingKueue, nil},
		"too deep":             {chain(maxLevels + 1), QueueingKueue, []string{"topology.switches"}},
		"too deep without it":  {chain(maxLevels + 1), QueueingVolcano, nil},
		"too long for a label": {[]Switch{{Name: strings.Repeat("s", 64), Hosts: "gpu[1-4]"}}, QueueingNone, []string{"topology.switches[0].name"}},
	} {
		env := kubernetesSample()
		env.Topology, env.Kubernetes.Queueing, env.Kubernetes.Preemption = &Topology{Switches: c.switches}, c.queueing, nil
		env.SetDefaults()
		if got := paths(env.Validate()); !slices.Equal(got, c.want) {
			t.Errorf("%s: problems at %q, want %q", name, got, c.want)
		}
	}
}

// TestCheckKubernetes checks that a program that only prepares hosts may leave
// the scheduler out, and that one that builds it may not.
func TestCheckKubernetes(t *testing.T) {
	env := kubernetesSample()
	if err := Check(env, PartReach, PartScheduler); err != nil {
		t.Error(err)
	}
	env.Kubernetes.PodCIDR = "10.213.0.0/16"
	if err := Check(env, PartReach); err != nil {
		t.Errorf("judged, although it is not used: %v", err)
	}
	if err := Check(env, PartReach, PartScheduler); err == nil || !strings.Contains(err.Error(), "kubernetes.podCIDR") {
		t.Errorf("error %v", err)
	}
}

// TestKubernetesDefaults pins what a file that says the least ends up with.
func TestKubernetesDefaults(t *testing.T) {
	const least = `config:
  gpucluster:environment:
    name: sample
    scheduler: kubernetes
    %s
    profiles:
      tiny: {sockets: 1, coresPerSocket: 2, memory: 4GiB}
      gpu: {sockets: 2, coresPerSocket: 56, threadsPerCore: 2, memory: 2TiB, gpus: [{type: h100, count: 8}]}
    hosts:
      - {names: ctl1, profile: tiny, roles: [control-plane]}
      - {names: "gpu[1-2]", profile: gpu, roles: [worker]}
    kubernetes:
      version: "1.36"
      teams: [{name: a, gpus: {h100: {}}, cohort: c}, {name: b, cohort: c}]
      systemReserved: {gpu: {cpu: 0}}
`
	for name, hosts := range map[string]string{"lab": "lab: {}", "inventory": "inventory: {ssh: {trustOnFirstUse: true}}"} {
		env, report := Load("sample.yaml", fmt.Appendf(nil, least, hosts))
		if env == nil {
			t.Fatal(report)
		}
		text, err := json.MarshalIndent(map[string]any{"kubernetes": env.Kubernetes, "artifacts": env.Artifacts}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "kubernetes", "defaults-"+name+".json"), string(text)+"\n")
		once := asJSON(env)
		if env.SetDefaults(); asJSON(env) != once {
			t.Errorf("%s: a second time changes\n%s\nto\n%s", name, once, asJSON(env))
		}
	}
}

// TestKubernetesModel pins the facts that the environments of stacks/ give.
func TestKubernetesModel(t *testing.T) {
	files, err := filepath.Glob("../stacks/Pulumi.*kubernetes*.yaml")
	if err != nil || len(files) < 2 {
		t.Fatal("no stack files", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		env, report := Load(file, content)
		if env == nil {
			t.Fatal(report)
		}
		checkModel(t, env)
		text, err := json.MarshalIndent(env.KubernetesCluster(), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join("testdata", "kubernetes", filepath.Base(file)+".json"), string(text)+"\n")
	}
}

// Each minor release that a file may ask for has a patch, and no other has.
func TestKubernetesVersions(t *testing.T) {
	field, ok := reflect.TypeFor[Kubernetes]().FieldByName("Version")
	if !ok {
		t.Fatal("no field")
	}
	allowed := boundsOf(strictyaml.Field{Tag: field.Tag}).enum
	if known := slices.Sorted(maps.Keys(kubernetesPatches)); !slices.Equal(allowed, known) {
		t.Errorf("a file may say %q, patches are known for %q", allowed, known)
	}
	for minor, patch := range kubernetesPatches {
		if !strings.HasPrefix(patch, "v"+minor+".") {
			t.Errorf("%s is no patch of %s", patch, minor)
		}
	}
}

// Every role belongs to one scheduler, but for storage.
func TestRolesBelong(t *testing.T) {
	for _, role := range Roles {
		of := 0
		for _, roles := range rolesOf {
			if slices.Contains(roles, role) {
				of++
			}
		}
		if want := map[bool]int{true: 0, false: 1}[role == RoleStorage]; of != want {
			t.Errorf("%s belongs to %d schedulers", role, of)
		}
	}
}

// A slurm section that nothing reads is reported as such, and not judged.
func TestSlurmIsNotJudgedForKubernetes(t *testing.T) {
	env := kubernetesSample()
	env.Slurm = &Slurm{Version: "24.11", Partitions: []Partition{{Name: "p", Hosts: "nowhere"}}}
	env.SetDefaults()
	if got := paths(env.Validate()); !slices.Equal(got, []string{"slurm"}) {
		t.Errorf("problems at %q", got)
	}
}

// The facts of a host: its switches from the top down, its own labels, and whom a
// team's groups bring in.
func TestKubernetesFacts(t *testing.T) {
	env := kubernetesSample()
	env.Topology = &Topology{Switches: []Switch{
		{Name: "core", Switches: "pod"}, {Name: "leaf", Hosts: "gpu[1-4]"}, {Name: "pod", Switches: "leaf"},
	}}
	env.Hosts[1].Labels = map[string]string{"a": "b"}
	env.Identity.Users = append(env.Identity.Users, User{Name: "v", UID: 2001, Group: "h", Groups: []string{"g"}}, User{Name: "w", UID: 2002, Group: "h"})
	env.Kubernetes.Teams = []Team{{Name: "t", Groups: []string{"g"}}}
	cluster := env.KubernetesCluster()
	if got := cluster.Workers[3].Switches; !slices.Equal(got, []string{"core", "pod", "leaf"}) {
		t.Errorf("switches %q", got)
	}
	if worker, plane := cluster.Workers[0], cluster.ControlPlanes[0]; worker.GPUs != 8 || worker.GPUType != "h100" || worker.Labels["a"] != "b" || plane.Labels != nil || plane.Switches != nil {
		t.Errorf("worker %+v, control plane %+v", worker, plane)
	}
	if people := cluster.Teams[0].People; len(people) != 2 || people[0].Name != "u" || people[1].Name != "v" {
		t.Errorf("people %+v", people)
	}
	if cluster.Endpoint != "ctl1:6443" || cluster.Version != kubernetesPatches["1.36"] {
		t.Errorf("endpoint %s, version %s", cluster.Endpoint, cluster.Version)
	}
}
