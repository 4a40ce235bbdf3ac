package pulumitest

import (
	"os"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

// Load is the environment of a file.
func Load(t *testing.T, path string) *config.Environment {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	env, report := config.Load(path, text)
	if env == nil {
		t.Fatal(report)
	}
	return env
}

// Environment is a small valid environment in a lab: ctl1 with controller,
// database and storage, login1, gpu1 and gpu2, a user, a shared home. Changes
// are made before defaults are set.
func Environment(t *testing.T, changes ...func(*config.Environment)) *config.Environment {
	t.Helper()
	env := &config.Environment{
		Name: "env", Scheduler: config.SchedulerSlurm, Lab: &config.Lab{},
		Profiles: map[string]config.Profile{
			"small":  {Sockets: 1, CoresPerSocket: 2, Memory: 4 * config.GiB},
			"h100x8": {Sockets: 2, CoresPerSocket: 48, ThreadsPerCore: 2, Memory: 2 * config.TiB, GPUs: []config.GPU{{Type: "h100", Count: 8}}},
		},
		Hosts: []config.HostGroup{
			{Names: "ctl1", Profile: "small", Roles: []config.Role{config.RoleController, config.RoleDatabase, config.RoleStorage}},
			{Names: "login1", Profile: "small", Roles: []config.Role{config.RoleLogin}},
			{Names: "gpu[1-2]", Profile: "h100x8", Roles: []config.Role{config.RoleCompute}},
		},
		Home: &config.Home{Kind: config.HomeGlusterFS},
		Identity: &config.Identity{
			Groups: []config.Group{{Name: "research", GID: 20001}},
			Users:  []config.User{{Name: "alice", UID: 20001, Group: "research"}},
		},
		Slurm: &config.Slurm{
			Version:      "24.11",
			Partitions:   []config.Partition{{Name: "train", Hosts: "gpu[1-2]", Default: true}},
			Accounts:     []config.Account{{Name: "research"}},
			Associations: []config.Association{{User: "alice", Account: "research"}},
		},
	}
	for _, change := range changes {
		change(env)
	}
	if err := config.Check(env, config.PartReach, config.PartScheduler); err != nil {
		t.Fatal(err)
	}
	return env
}

// Kubernetes is a small valid environment in a lab: a control plane ctl1, and
// the workers gpu1 and gpu2. Changes are made before defaults are set.
func Kubernetes(t *testing.T, changes ...func(*config.Environment)) *config.Environment {
	t.Helper()
	return Environment(t, append([]func(*config.Environment){func(e *config.Environment) {
		e.Scheduler, e.Slurm, e.Home = config.SchedulerKubernetes, nil, nil
		e.Kubernetes = &config.Kubernetes{Version: "1.36", Queueing: config.QueueingNone}
		e.Hosts = []config.HostGroup{
			{Names: "ctl1", Profile: "small", Roles: []config.Role{config.RoleControlPlane}},
			{Names: "gpu[1-2]", Profile: "h100x8", Roles: []config.Role{config.RoleWorker}},
		}
	}}, changes...)...)
}

// Connections reach every host of the environment by its name, with a key.
func Connections(env *config.Environment) connection.Connections {
	all := connection.Connections{}
	for _, host := range env.AllHosts() {
		all[host.Name] = connection.Connection{
			Name: host.Name, Address: pulumi.String("192.0.2.9"), HostKeys: pulumi.StringArray{pulumi.String("ssh-ed25519 BBBB")},
			PrivateKey: pulumi.String("a-private-key"),
		}
	}
	return all
}
