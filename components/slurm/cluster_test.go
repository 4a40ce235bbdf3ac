package slurm_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/gatestep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// program is a cluster on hosts that the test gives, without a lab.
func program(env *config.Environment) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		assessment, err := heal.Assess(ctx)
		if err != nil {
			return err
		}
		machines, err := hosts.NewHosts(ctx, "machines", &hosts.HostsArgs{Environment: env, Connections: pulumitest.Connections(env)})
		if err != nil {
			return err
		}
		_, err = slurm.NewCluster(ctx, "c", &slurm.ClusterArgs{Environment: env, Hosts: machines, Heal: assessment})
		return err
	}
}

// spec reads what a command resource asks for.
func spec[T any](t *testing.T, r *pulumitest.Recorder, name string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.Command(name).Inputs["stdin"].StringValue()), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestArguments(t *testing.T) {
	env := pulumitest.Environment(t)
	bare := pulumitest.Environment(t)
	bare.Slurm = nil
	idle := pulumitest.Environment(t)
	idle.Slurm.Partitions = nil
	fewer := pulumitest.Environment(t)
	fewer.Hosts[2].Names = "gpu1"
	for name, c := range map[string]struct {
		args func(*hosts.Hosts) *slurm.ClusterArgs
		want string
	}{
		"none":            {func(*hosts.Hosts) *slurm.ClusterArgs { return nil }, "slurm section"},
		"no environment":  {func(h *hosts.Hosts) *slurm.ClusterArgs { return &slurm.ClusterArgs{Hosts: h} }, "slurm section"},
		"no slurm":        {func(h *hosts.Hosts) *slurm.ClusterArgs { return &slurm.ClusterArgs{Environment: bare, Hosts: h} }, "slurm section"},
		"no partition":    {func(h *hosts.Hosts) *slurm.ClusterArgs { return &slurm.ClusterArgs{Environment: idle, Hosts: h} }, "slurm.partitions: is "},
		"no hosts":        {func(*hosts.Hosts) *slurm.ClusterArgs { return &slurm.ClusterArgs{Environment: env} }, "hosts.NewHosts"},
		"hosts are fewer": {func(h *hosts.Hosts) *slurm.ClusterArgs { return &slurm.ClusterArgs{Environment: env, Hosts: h} }, "gpu2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{}
			err := r.Run("s", func(ctx *pulumi.Context) error {
				some, err := hosts.NewHosts(ctx, "machines", &hosts.HostsArgs{Environment: fewer, Connections: pulumitest.Connections(fewer)})
				if err != nil {
					return err
				}
				_, err = slurm.NewCluster(ctx, "c", c.args(some))
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if strings.Contains(r.Inventory(), "gpucluster:slurm:Cluster") {
				t.Error("the cluster was registered before it failed")
			}
		})
	}
}

// TestInventory checks the cluster's own resources. The memberships are no
// children of it.
func TestInventory(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	want := []string{
		"command:local:Command c-accounting (parent c)", "command:local:Command c-controller (parent c)",
		"command:local:Command c-database (parent c)", "command:local:Command c-gate (parent c)",
		"command:local:Command c-gpu1 (parent gpucluster-s)", "command:local:Command c-gpu2 (parent gpucluster-s)",
		"command:local:Command c-guard (parent c)", "command:local:Command c-keys (parent c)",
		"command:local:Command c-login1-login (parent c)", "command:local:Command c-smoke (parent c)",
		"gpucluster:slurm:Cluster c (parent gpucluster-s)",
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(r.Inventory()), "\n") {
		if !strings.Contains(line, "machines") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOrder checks that each part waits for what it needs and for nothing that
// it does not, without the program saying so.
func TestOrder(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	for name, c := range map[string]struct{ after, notAfter []string }{
		"c-database":     {[]string{"c-keys", "machines-ctl1-baseline", "machines-ctl1-home"}, []string{"machines-gpu1-baseline", "machines-login1-home"}},
		"c-controller":   {[]string{"c-database", "c-keys"}, []string{"machines-gpu1-baseline", "c-gpu1"}},
		"c-gpu1":         {[]string{"c-controller", "machines-gpu1-baseline", "machines-gpu1-home"}, []string{"c-gpu2", "machines-gpu2-home", "c-accounting", "c-login1-login"}},
		"c-login1-login": {[]string{"c-controller", "machines-login1-home"}, []string{"c-gpu1"}},
		"c-accounting":   {[]string{"c-controller"}, []string{"c-gpu1"}},
		"c-smoke":        {[]string{"c-gpu1", "c-gpu2", "c-login1-login", "c-accounting"}, nil},
		"c-gate":         {[]string{"c-smoke"}, nil},
	} {
		before := r.Before(name)
		for _, other := range c.after {
			if !slices.Contains(before, other) {
				t.Errorf("%s does not wait for %s", name, other)
			}
		}
		for _, other := range c.notAfter {
			if slices.Contains(before, other) {
				t.Errorf("%s waits for %s", name, other)
			}
		}
	}
	// Deletions go the other way: what waits for all that takes something away is
	// deleted first. What fails at the end of a run must not keep it from being made.
	takesAway := slices.Sorted(maps.Keys(r.Commands()))
	takesAway = slices.DeleteFunc(takesAway, func(n string) bool {
		return slices.Contains([]string{"c-guard", "c-accounting", "c-smoke", "c-gate"}, n)
	})
	if got := r.Before("c-guard"); !slices.Equal(got, takesAway) {
		t.Errorf("the guard waits for %v, want %v", got, takesAway)
	}
	for _, one := range steps.All() {
		if stays := []string{slurmstep.Accounting, slurmstep.Smoke, gatestep.Name}; slices.Contains(stays, one.Name) && one.Remove != nil {
			t.Errorf("%s takes something away, so the guard must wait for it", one.Name)
		}
	}
}

// TestAddingAHost checks that work is proportional to change: a host more
// changes what the controller, the smoke job and the gate are given, and
// nothing on hosts that stay.
func TestAddingAHost(t *testing.T) {
	add := func(version string) []string {
		before := pulumitest.Run(t, "s", program(pulumitest.Environment(t, func(e *config.Environment) { e.Slurm.Version = version })))
		after := pulumitest.Run(t, "s", program(pulumitest.Environment(t, func(e *config.Environment) {
			e.Slurm.Version, e.Hosts[2].Names, e.Slurm.Partitions[0].Hosts = version, "gpu[1-3]", "gpu[1-3]"
		})))
		var changed []string
		for name, was := range before.Commands() {
			if is := after.Command(name); !is.Inputs.DeepEquals(was.Inputs) {
				changed = append(changed, name)
			}
		}
		slices.Sort(changed)
		return changed
	}
	for version, want := range map[string][]string{
		// Before 23.11 every slurmd restarts, and login hosts hold a copy of slurm.conf.
		"22.05": {"c-controller", "c-gate", "c-gpu1", "c-gpu2", "c-login1-login"},
		"24.11": {"c-controller", "c-gate"},
		"26.05": {"c-controller", "c-gate"},
	} {
		if got := add(version); !slices.Equal(got, want) {
			t.Errorf("%s: changed %v, want %v", version, got, want)
		}
	}
}

// TestChangingAPartition checks that only the controller hears of it.
func TestChangingAPartition(t *testing.T) {
	before := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	after := pulumitest.Run(t, "s", program(pulumitest.Environment(t, func(e *config.Environment) { e.Slurm.Partitions[0].MaxTime = "01:00:00" })))
	for name, was := range before.Commands() {
		if changed := !after.Command(name).Inputs.DeepEquals(was.Inputs); changed != (name == "c-controller") {
			t.Errorf("%s changed: %v", name, changed)
		}
	}
}

// TestChangingDevices checks that the host whose device files are others hears
// of it too: its slurmd has to restart, and a job of ours to run on it.
func TestChangingDevices(t *testing.T) {
	before := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	after := pulumitest.Run(t, "s", program(pulumitest.Environment(t, func(e *config.Environment) {
		first := 8
		for name, profile := range e.Profiles {
			profile.GPUs = slices.Clone(profile.GPUs)
			for i := range profile.GPUs {
				profile.GPUs[i].FirstDevice = &first
			}
			e.Profiles[name] = profile
		}
	})))
	for _, name := range []string{"c-controller", "c-gpu1", "c-gpu2"} {
		if after.Command(name).Inputs.DeepEquals(before.Command(name).Inputs) {
			t.Errorf("%s does not change", name)
		}
	}
	if was, is := spec[slurmstep.MemberSpec](t, before, "c-gpu1").Shape, spec[slurmstep.MemberSpec](t, after, "c-gpu1").Shape; was == is {
		t.Errorf("slurmd of gpu1 is not restarted: its shape stays %q", is)
	}
}

// TestParts checks which parts an environment gets, and with what.
func TestParts(t *testing.T) {
	onSite := func(e *config.Environment) {
		e.Hosts[0].Roles = []config.Role{config.RoleController, config.RoleStorage}
		e.Slurm.Database = &config.Database{Slurmdbd: "db.example.org"}
		e.Slurm.MungeKey = config.Secret{Set: true}
	}
	for name, c := range map[string]struct {
		change  func(*config.Environment)
		part    string
		present bool
	}{
		"a database host keeps records":               {func(*config.Environment) {}, "c-database", true},
		"the site's own slurmdbd is not made":         {onSite, "c-database", false},
		"but accounts are reconciled there":           {onSite, "c-accounting", true},
		"a host of login has its commands":            {func(*config.Environment) {}, "c-login1-login", true},
		"a controller alone is no member":             {func(*config.Environment) {}, "c-ctl1", false},
		"a controller that also computes is a member": {func(e *config.Environment) { e.Hosts[0].Roles = append(e.Hosts[0].Roles, config.RoleCompute) }, "c-ctl1", true},
	} {
		t.Run(name, func(t *testing.T) {
			commands := pulumitest.Run(t, "s", program(pulumitest.Environment(t, c.change))).Commands()
			if _, present := commands[c.part]; present != c.present {
				t.Errorf("%s is there: %v, want %v", c.part, present, c.present)
			}
		})
	}
}

// TestSecrets checks where keys come from, and that a plan shows none.
func TestSecrets(t *testing.T) {
	made := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	given := pulumitest.Run(t, "s", program(pulumitest.Environment(t, func(e *config.Environment) {
		e.Slurm.MungeKey = config.Secret{Set: true, Value: "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQQ=="}
	})))
	for _, name := range []string{"c-controller", "c-database", "c-gpu1", "c-login1-login"} {
		if got := pulumitest.Entry(made.Command(name), "GPUCLUSTER_SECRET_MUNGE_KEY"); got != "a-munge-key" {
			t.Errorf("%s has the key %q, want the one that was made", name, got)
		}
		if got := pulumitest.Entry(given.Command(name), "GPUCLUSTER_SECRET_MUNGE_KEY"); !strings.HasPrefix(got, "QUFB") {
			t.Errorf("%s has the key %q, want the site's", name, got)
		}
		for property, value := range made.Command(name).Inputs {
			for _, secret := range pulumitest.Secrets {
				if strings.Contains(pulumitest.Clear(value), secret) {
					t.Errorf("%s: %s shows %q", name, property, secret)
				}
			}
		}
	}
	if spec := spec[slurmstep.DatabaseSpec](t, made, "c-database"); strings.Contains(spec.Files["slurmdbd.conf"], "StoragePass") {
		t.Error("slurmdbd.conf in the spec has a password")
	}
}

// TestMemberSpec checks what a membership is.
func TestMemberSpec(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	member := spec[slurmstep.MemberSpec](t, r, "c-gpu1")
	if member.Host != "gpu1" || member.Owner != "slurm" || member.Gres != "gpu:h100:8" || member.Vars["slurm_compute_require_mount"] != "/home" {
		t.Errorf("spec %+v", member)
	}
	if smoke := spec[slurmstep.SmokeSpec](t, r, "c-smoke"); smoke.Hosts != 2 || smoke.Gres != "gpu:h100:8" || smoke.Partition != "train" {
		t.Errorf("smoke job %+v", smoke)
	}
}

// TestHostsThatAreNotPrepared checks that what is done with a host afterwards is
// told why its preparation failed.
func TestHostsThatAreNotPrepared(t *testing.T) {
	r := &pulumitest.Recorder{Results: map[string]string{
		hoststep.Baseline: `{"host":"gpu1","status":"quarantined","reason":"uid 20001 is taken"}`,
	}}
	if err := r.Run("s", program(pulumitest.Environment(t))); err != nil {
		t.Fatal(err)
	}
	prepared := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
	for _, name := range []string{"c-gpu1", "c-login1-login"} {
		if got := pulumitest.Entry(r.Command(name), hoststep.EnvUnprepared); got != "uid 20001 is taken" {
			t.Errorf("%s is told %q", name, got)
		}
		if got := pulumitest.Entry(prepared.Command(name), hoststep.EnvUnprepared); got != "" {
			t.Errorf("%s is told %q of a host that is prepared", name, got)
		}
	}
}

// TestSmokePlace checks that the smoke job runs where root may run one over two
// hosts, if there is such a partition.
func TestSmokePlace(t *testing.T) {
	first := func(change func(*config.Partition)) func(*config.Environment) {
		return func(e *config.Environment) { change(&e.Slurm.Partitions[0]) }
	}
	for name, c := range map[string]struct {
		change    func(*config.Environment)
		partition string
		hosts     int
	}{
		"the default partition":        {func(*config.Environment) {}, "train", 2},
		"it is for some accounts":      {first(func(p *config.Partition) { p.AllowAccounts = []string{"research"} }), slurmconf.RootPartition, 2},
		"it has one host for each job": {first(func(p *config.Partition) { p.MaxNodes = 1 }), "train", 1},
		"it is down":                   {first(func(p *config.Partition) { p.State = "DOWN" }), slurmconf.RootPartition, 2},
		"another one takes two hosts": {func(e *config.Environment) {
			e.Slurm.Partitions[0].MaxNodes = 1
			e.Slurm.Partitions = append(e.Slurm.Partitions, config.Partition{Name: "wide", Hosts: "gpu[1-2]"})
		}, "wide", 2},
		"root has no partition with both": {func(e *config.Environment) {
			e.Slurm.Partitions[0].AllowAccounts = []string{"research"}
			e.Slurm.Partitions = append(e.Slurm.Partitions, config.Partition{Name: "one", Hosts: "gpu1"})
		}, slurmconf.RootPartition, 1},
		"hosts differ": {func(e *config.Environment) {
			e.Hosts[2].Names = "gpu1"
			other := e.Hosts[2]
			other.Names, other.Profile = "gpu2", "small"
			e.Hosts = append(e.Hosts, other)
			e.Profiles["small"] = config.Profile{Sockets: 1, CoresPerSocket: 8, ThreadsPerCore: 1, Memory: e.Profiles[e.Hosts[2].Profile].Memory}
		}, "train", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := pulumitest.Run(t, "s", program(pulumitest.Environment(t, c.change)))
			if smoke := spec[slurmstep.SmokeSpec](t, r, "c-smoke"); smoke.Partition != c.partition || smoke.Hosts != c.hosts {
				t.Errorf("it runs over %d hosts in %q, want %d in %q", smoke.Hosts, smoke.Partition, c.hosts, c.partition)
			}
		})
	}
}

// TestSackd checks that sackd is asked for only where it runs: on login hosts
// that have no other daemon of Slurm.
func TestSackd(t *testing.T) {
	for name, c := range map[string]struct {
		version string
		also    []config.Role
		want    bool
	}{
		"a login host":           {"24.11", nil, true},
		"of a release before it": {"22.05", nil, false},
		"that also controls":     {"24.11", []config.Role{config.RoleController}, false},
		"that also computes":     {"24.11", []config.Role{config.RoleCompute}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := pulumitest.Run(t, "s", program(pulumitest.Environment(t, func(e *config.Environment) {
				e.Slurm.Version = c.version
				for i := range e.Hosts {
					if e.Hosts[i].Names == "login1" {
						e.Hosts[i].Roles = append(e.Hosts[i].Roles, c.also...)
					} else if slices.Contains(c.also, config.RoleController) {
						e.Hosts[i].Roles = slices.DeleteFunc(slices.Clone(e.Hosts[i].Roles), func(r config.Role) bool { return r == config.RoleController })
					}
				}
			})))
			if login := spec[slurmstep.LoginSpec](t, r, "c-login1-login"); login.Sackd != c.want {
				t.Errorf("sackd: %v, want %v", login.Sackd, c.want)
			} else if own := login.Vars["slurm_login_own_config"]; own != (len(c.also) == 0) {
				t.Errorf("the role gives the host a configuration of its own: %v", own)
			}
		})
	}
}
