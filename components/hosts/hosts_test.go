package hosts_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

func prepare(t *testing.T, env *config.Environment) *pulumitest.Recorder {
	t.Helper()
	return pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		_, err := hosts.NewHosts(ctx, "mine", &hosts.HostsArgs{Environment: env, Connections: pulumitest.Connections(env)})
		return err
	})
}

func TestArguments(t *testing.T) {
	env := pulumitest.Environment(t)
	some := pulumitest.Connections(env)
	delete(some, "gpu1")
	delete(some, "gpu2")
	for name, c := range map[string]struct {
		args *hosts.HostsArgs
		want string
	}{
		"none":           {nil, "need an environment"},
		"no environment": {&hosts.HostsArgs{}, "need an environment"},
		"not valid":      {&hosts.HostsArgs{Environment: &config.Environment{Name: "e"}}, "hosts: is "},
		"no connections": {&hosts.HostsArgs{Environment: env}, "no connection is given to ctl1,gpu[1-2],login1"},
		"some missing":   {&hosts.HostsArgs{Environment: env, Connections: some}, "no connection is given to gpu[1-2]"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{}
			err := r.Run("s", func(ctx *pulumi.Context) error {
				_, err := hosts.NewHosts(ctx, "mine", c.args)
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if len(r.Resources()) > 0 {
				t.Errorf("registered before it failed:\n%s", r.Inventory())
			}
		})
	}
}

// TestHosts checks hosts without any other component.
func TestHosts(t *testing.T) {
	r := prepare(t, pulumitest.Environment(t))
	want := `command:local:Command mine-ctl1-baseline (parent mine)
command:local:Command mine-ctl1-home (parent mine)
command:local:Command mine-gpu1-baseline (parent mine)
command:local:Command mine-gpu1-home (parent mine)
command:local:Command mine-gpu2-baseline (parent mine)
command:local:Command mine-gpu2-home (parent mine)
command:local:Command mine-login1-baseline (parent mine)
command:local:Command mine-login1-home (parent mine)
command:local:Command mine-owner (parent mine)
gpucluster:hosts:Hosts mine (parent gpucluster-s)
`
	if got := r.Inventory(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	// No host waits for another, except that the one that serves the home is first.
	if got, want := r.Before("mine-gpu1-baseline"), []string{"mine-owner"}; !slices.Equal(got, want) {
		t.Errorf("before a baseline: %v, want %v", got, want)
	}
	if got, want := r.Before("mine-gpu1-home"), []string{"mine-ctl1-baseline", "mine-ctl1-home", "mine-gpu1-baseline", "mine-owner"}; !slices.Equal(got, want) {
		t.Errorf("before a home: %v, want %v", got, want)
	}
}

func TestWithoutHome(t *testing.T) {
	r := prepare(t, pulumitest.Environment(t, func(e *config.Environment) {
		e.Home = nil
		e.Hosts[0].Roles = []config.Role{config.RoleController, config.RoleDatabase}
	}))
	if strings.Contains(r.Inventory(), "-home") {
		t.Errorf("homes without a home section:\n%s", r.Inventory())
	}
}

// TestBaselineSpec checks what a host is compared with, and whose failure
// stops the run.
func TestBaselineSpec(t *testing.T) {
	r := prepare(t, pulumitest.Environment(t))
	for host, essential := range map[string]bool{"ctl1": true, "login1": false, "gpu1": false} {
		spec := baselineOf(t, r, host)
		if spec.Host != host || spec.Essential != essential || spec.Environment != pulumitest.Environment(t).Name {
			t.Errorf("%s: host %q, essential %v, want %v; environment %q", host, spec.Host, spec.Essential, essential, spec.Environment)
		}
		if got := pulumitest.Entry(r.Command("mine-"+host+"-baseline"), hoststep.EnvOwner); got != `"an-owner"` {
			t.Errorf("%s: its owner is %q", host, got)
		}
		hardware, _ := spec.Vars["host_baseline_hardware"].(map[string]any)
		if len(hardware) != 1 || hardware[host] == nil {
			t.Errorf("%s: is compared with %v, want its own hardware alone: another host's would run it again", host, hardware)
		}
	}
	gpus := baselineOf(t, r, "gpu1").Vars["host_baseline_hardware"].(map[string]any)["gpu1"].(map[string]any)["gpus"]
	if data, _ := json.Marshal(gpus); string(data) != `[{"count":8,"first_device":0,"type":"h100"}]` {
		t.Errorf("GPUs %s", data)
	}
}

// TestBaselineVars checks what follows from the kind of environment.
func TestBaselineVars(t *testing.T) {
	inventory := func(e *config.Environment) {
		e.Lab = nil
		e.Home = &config.Home{Kind: config.HomeExisting}
		e.Hosts[0].Roles = []config.Role{config.RoleController, config.RoleDatabase}
		e.Inventory = &config.Inventory{SSH: config.SSH{TrustOnFirstUse: true}}
	}
	for name, c := range map[string]struct {
		change func(*config.Environment)
		key    string
		want   any
	}{
		"a lab host says what it simulates":     {func(*config.Environment) {}, "host_baseline_simulated", "/etc/gpucluster-lab/hardware.json"},
		"a real one does not":                   {inventory, "host_baseline_simulated", nil},
		"24.11 needs trixie":                    {func(*config.Environment) {}, "host_baseline_distribution", "debian trixie"},
		"22.05 needs bookworm":                  {func(e *config.Environment) { e.Slurm.Version = "22.05" }, "host_baseline_distribution", "debian bookworm"},
		"accounts are made":                     {func(*config.Environment) {}, "host_baseline_manage_accounts", true},
		"accounts of the site are checked only": {func(e *config.Environment) { e.Identity.Source = config.IdentityExisting }, "host_baseline_manage_accounts", false},
		"home folders lie on the shared home":   {func(*config.Environment) {}, "host_baseline_create_homes", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := baselineOf(t, prepare(t, pulumitest.Environment(t, c.change)), "gpu1").Vars[c.key]
			gotText, _ := json.Marshal(got)
			wantText, _ := json.Marshal(c.want)
			if string(gotText) != string(wantText) {
				t.Errorf("%s is %s, want %s", c.key, gotText, wantText)
			}
		})
	}
}

// TestNames checks that the names of all hosts reach each of them where a
// resolver does not know them, wherever their addresses are from.
func TestNames(t *testing.T) {
	env := func(dns config.DNS) *config.Environment {
		return &config.Environment{
			Name: "e", Inventory: &config.Inventory{DNS: dns},
			Profiles: map[string]config.Profile{"p": {Sockets: 1, CoresPerSocket: 2, Memory: 4 * config.GiB}},
			Hosts:    []config.HostGroup{{Names: "gpu[1-4]", Profile: "p", Roles: []config.Role{config.RoleCompute}}},
		}
	}
	connections := connection.Connections{
		"gpu1": {Name: "gpu1", Address: pulumi.String("10.0.0.1")},
		"gpu2": {Name: "gpu2", Address: pulumi.String("10.0.0.2").ToStringOutput()},
		"gpu3": {Name: "gpu3", Address: pulumi.String("gpu3.example.org")},
		"gpu4": {Name: "gpu4"},
	}
	for dns, want := range map[config.DNS]struct {
		known any
		later string
	}{
		config.DNSHosts:    {[]any{"10.0.0.1 gpu1"}, "10.0.0.2 gpu2"},
		config.DNSExisting: {nil, ""},
	} {
		r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
			_, err := hosts.NewHosts(ctx, "mine", &hosts.HostsArgs{Environment: env(dns), Connections: connections})
			return err
		})
		for host := range connections {
			if got := pulumitest.Entry(r.Command("mine-"+host+"-baseline"), hoststep.EnvNames); got != want.later {
				t.Errorf("dns %s: %s gets %q later, want %q", dns, host, got, want.later)
			}
			if got := baselineOf(t, r, host).Vars["host_baseline_names"]; !reflect.DeepEqual(got, want.known) {
				t.Errorf("dns %s: %s gets %v, want %v", dns, host, got, want.known)
			}
		}
	}
}

func baselineOf(t *testing.T, r *pulumitest.Recorder, host string) hoststep.BaselineSpec {
	t.Helper()
	var spec hoststep.BaselineSpec
	if err := json.Unmarshal([]byte(r.Command("mine-" + host + "-baseline").Inputs["stdin"].StringValue()), &spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

func TestEssential(t *testing.T) {
	for role, want := range map[config.Role]bool{
		config.RoleController: true, config.RoleDatabase: true, config.RoleStorage: true, config.RoleLogin: false, config.RoleCompute: false,
	} {
		if got := hosts.Essential(config.Host{Roles: []config.Role{role}}); got != want {
			t.Errorf("a %s is essential: %v, want %v", role, got, want)
		}
	}
}
