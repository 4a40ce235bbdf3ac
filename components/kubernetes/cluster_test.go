package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/kubernetes"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kubestep"
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
		cluster, err := kubernetes.NewCluster(ctx, "c", &kubernetes.ClusterArgs{Environment: env, Hosts: machines, Heal: assessment})
		if err != nil {
			return err
		}
		var inside pulumi.CustomResourceState
		if err := ctx.RegisterResource("test:test:Inside", "inside", nil, &inside); err != nil {
			return err
		}
		return cluster.Guard(ctx, &inside)
	}
}

// highlyAvailable has three control planes behind an endpoint of their own.
func highlyAvailable(e *config.Environment) {
	e.Hosts[0].Names, e.Kubernetes.Endpoint = "ctl[1-3]", "api.cluster.example"
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
	env, bare, fewer := pulumitest.Kubernetes(t), pulumitest.Kubernetes(t), pulumitest.Kubernetes(t)
	bare.Kubernetes = nil
	fewer.Hosts[1].Names = "gpu1"
	for name, c := range map[string]struct {
		args func(*hosts.Hosts) *kubernetes.ClusterArgs
		want string
	}{
		"none":           {func(*hosts.Hosts) *kubernetes.ClusterArgs { return nil }, "kubernetes section"},
		"no environment": {func(h *hosts.Hosts) *kubernetes.ClusterArgs { return &kubernetes.ClusterArgs{Hosts: h} }, "kubernetes section"},
		"no kubernetes": {func(h *hosts.Hosts) *kubernetes.ClusterArgs {
			return &kubernetes.ClusterArgs{Environment: bare, Hosts: h}
		}, "kubernetes section"},
		"no hosts": {func(*hosts.Hosts) *kubernetes.ClusterArgs { return &kubernetes.ClusterArgs{Environment: env} }, "hosts.NewHosts"},
		"hosts are fewer": {func(h *hosts.Hosts) *kubernetes.ClusterArgs {
			return &kubernetes.ClusterArgs{Environment: env, Hosts: h}
		}, "gpu2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{}
			err := r.Run("s", func(ctx *pulumi.Context) error {
				some, err := hosts.NewHosts(ctx, "machines", &hosts.HostsArgs{Environment: fewer, Connections: pulumitest.Connections(fewer)})
				if err != nil {
					return err
				}
				_, err = kubernetes.NewCluster(ctx, "c", c.args(some))
				return err
			})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if strings.Contains(r.Inventory(), "gpucluster:kubernetes:Cluster") {
				t.Error("the cluster was registered before it failed")
			}
		})
	}
}

// TestInventory checks the cluster's own resources. The memberships are no
// children of it.
func TestInventory(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t, highlyAvailable)))
	want := []string{
		"command:local:Command c-ctl1-control-plane (parent c)", "command:local:Command c-ctl2-control-plane (parent c)",
		"command:local:Command c-ctl3-control-plane (parent c)", "command:local:Command c-gate (parent c)",
		"command:local:Command c-gpu1 (parent gpucluster-s)", "command:local:Command c-gpu2 (parent gpucluster-s)",
		"command:local:Command c-guard (parent c)", "command:local:Command c-kubeconfig (parent c)",
		"command:local:Command c-smoke (parent c)", "gpucluster:kubernetes:Cluster c (parent gpucluster-s)",
		"pulumi:providers:kubernetes c-api (parent c)",
	}
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(r.Inventory()), "\n") {
		if !strings.Contains(line, "machines") && !strings.Contains(line, "inside") {
			got = append(got, line)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOrder checks that control planes come one after the other, and that each
// part waits for what it needs and for nothing that it does not.
func TestOrder(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t, highlyAvailable)))
	for name, c := range map[string]struct{ after, notAfter []string }{
		"c-ctl1-control-plane": {[]string{"machines-ctl1-baseline", "machines-ctl3-baseline"}, []string{"machines-gpu1-baseline", "c-ctl2-control-plane"}},
		"c-ctl2-control-plane": {[]string{"c-ctl1-control-plane"}, []string{"c-ctl3-control-plane"}},
		"c-ctl3-control-plane": {[]string{"c-ctl1-control-plane", "c-ctl2-control-plane"}, nil},
		"c-gpu1":               {[]string{"c-ctl3-control-plane", "machines-gpu1-baseline"}, []string{"c-gpu2", "machines-gpu2-baseline", "c-smoke"}},
		"c-smoke":              {[]string{"c-gpu1", "c-gpu2"}, nil},
		"c-guard":              {[]string{"c-gpu1", "c-gpu2", "c-ctl1-control-plane"}, nil},
		"c-gate":               {[]string{"c-smoke", "c-gpu2"}, nil},
	} {
		before := r.Before(name)
		for _, want := range c.after {
			if !slices.Contains(before, want) {
				t.Errorf("%s does not wait for %s but for %v", name, want, before)
			}
		}
		for _, not := range c.notAfter {
			if slices.Contains(before, not) {
				t.Errorf("%s waits for %s", name, not)
			}
		}
	}
}

// TestGuardStandsBeforeWhatIsInside checks that a destruction that is refused has
// not forgotten the cluster's objects.
func TestGuardStandsBeforeWhatIsInside(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t)))
	for _, urn := range r.Command("c-guard").RegisterRPC.GetDependencies() {
		if strings.HasSuffix(urn, "::inside") {
			return
		}
	}
	t.Error("the guard is not deleted first")
}

// TestControlPlanes checks that each can ask all others, that a preparation that
// failed stops nobody else, and that every host of a cluster without an endpoint
// of the site has a balancer.
func TestControlPlanes(t *testing.T) {
	local := func(e *config.Environment) { highlyAvailable(e); e.Kubernetes.Endpoint = ""; e.SetDefaults() }
	for name, c := range map[string]struct {
		env                 *config.Environment
		essential, balancer bool
		targets             []string
	}{
		"one":                     {pulumitest.Kubernetes(t), true, false, []string{"ctl1"}},
		"three, a site's":         {pulumitest.Kubernetes(t, highlyAvailable), false, false, []string{"ctl1", "ctl2", "ctl3"}},
		"three, one on each host": {pulumitest.Kubernetes(t, local), false, true, []string{"ctl1", "ctl2", "ctl3"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := pulumitest.Run(t, "s", program(c.env))
			if got := spec[hoststep.BaselineSpec](t, r, "machines-ctl1-baseline").Essential; got != c.essential {
				t.Errorf("essential: %v, want %v", got, c.essential)
			}
			plane, member := spec[kubestep.ControlPlaneSpec](t, r, "c-ctl1-control-plane"), spec[kubestep.MemberSpec](t, r, "c-gpu1")
			for host, vars := range map[string]map[string]any{"ctl1": plane.Node, "gpu1": member.Node} {
				if _, got := vars["kubernetes_node_balancer"]; got != c.balancer {
					t.Errorf("a balancer on %s: %v, want %v", host, got, c.balancer)
				}
			}
			var targets []remote.Target
			if err := json.Unmarshal([]byte(pulumitest.Entry(r.Command("c-ctl1-control-plane"), step.EnvTargets)), &targets); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, target := range targets {
				names = append(names, target.Name)
			}
			if !slices.Equal(names, c.targets) {
				t.Errorf("it reaches %v, want %v", names, c.targets)
			}
		})
	}
}

// TestPreviewKnowsTheCluster checks that a preview in which the kubeconfig is read
// again does not take the cluster for another one, all of whose objects would be
// made anew; an update goes by what it reads.
func TestPreviewKnowsTheCluster(t *testing.T) {
	before := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t)))
	prior := before.State("")
	prior["urn:pulumi:s::gpucluster::command:local:Command::c-kubeconfig"].Outputs["stdout"] =
		resource.MakeSecret(resource.NewStringProperty(pulumitest.Results["kubernetes-kubeconfig"]))
	other := strings.Replace(pulumitest.Results["kubernetes-kubeconfig"], "a-kubeconfig", "another", 1)
	for preview, want := range map[bool]string{true: "a-kubeconfig", false: "another"} {
		r := &pulumitest.Recorder{Prior: prior, Results: map[string]string{"kubernetes-kubeconfig": other}}
		env := pulumitest.Kubernetes(t)
		err := r.Run("s", func(ctx *pulumi.Context) error {
			machines, err := hosts.NewHosts(ctx, "machines", &hosts.HostsArgs{Environment: env, Connections: pulumitest.Connections(env)})
			if err != nil {
				return err
			}
			// A preview keeps the probes of a real update from looking for the hosts.
			var known *heal.Assessment
			if preview {
				if known, err = heal.Assess(ctx); err != nil {
					return err
				}
			}
			_, err = kubernetes.NewCluster(ctx, "c", &kubernetes.ClusterArgs{Environment: env, Hosts: machines, Heal: known})
			return err
		}, func(info *pulumi.RunInfo) { info.DryRun = preview })
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range r.Resources() {
			if args.Name == "c-api" && !strings.Contains(fmt.Sprint(args.Inputs["kubeconfig"]), want) {
				t.Errorf("preview %v: the provider has another kubeconfig than the one with %q", preview, want)
			}
		}
	}
}

// TestMembers checks what a membership asks for.
func TestMembers(t *testing.T) {
	r := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t, highlyAvailable)))
	member := spec[kubestep.MemberSpec](t, r, "c-gpu1")
	if member.Host != "gpu1" || member.Owner != "kubernetes" || member.GPUs != 8 || member.Labels["gpucluster/gpu"] != "h100" ||
		!slices.Equal(member.ControlPlanes, []string{"ctl1", "ctl2", "ctl3"}) {
		t.Errorf("the membership is %+v", member)
	}
	if url := member.Node["kubernetes_node_binaries_url"]; url != "http://artifacts:5000/binaries/v1.36.3" {
		t.Errorf("binaries come from %v", url)
	}
}

// TestKubeconfigIsSecret checks that the administrator's credentials are marked
// so in the state and in what the stack exports.
func TestKubeconfigIsSecret(t *testing.T) {
	env := pulumitest.Kubernetes(t)
	var outputs stackoutput.Outputs
	r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		machines, err := hosts.NewHosts(ctx, "machines", &hosts.HostsArgs{Environment: env, Connections: pulumitest.Connections(env)})
		if err != nil {
			return err
		}
		cluster, err := kubernetes.NewCluster(ctx, "c", &kubernetes.ClusterArgs{Environment: env, Hosts: machines})
		if err != nil {
			return err
		}
		for _, name := range []string{"kubeconfig", "sshPrivateKey"} {
			if output, ok := cluster.Outputs()[name].(pulumi.Output); !ok || !pulumi.IsSecret(output) {
				t.Errorf("%s is no secret", name)
			}
		}
		cluster.Outputs().ToMapOutput().ApplyT(func(all map[string]any) (bool, error) {
			data, err := json.Marshal(all)
			if err != nil {
				return false, err
			}
			return true, json.Unmarshal(data, &outputs)
		})
		return nil
	})
	if secret := r.Command("c-kubeconfig").RegisterRPC.GetAdditionalSecretOutputs(); !slices.Contains(secret, "stdout") {
		t.Errorf("secret outputs of the kubeconfig are %v", secret)
	}
	if outputs.Scheduler != "kubernetes" || !slices.Equal(outputs.Controllers, []string{"ctl1"}) || len(outputs.Ledger) != 2 || outputs.Targets == "" {
		t.Errorf("status and ssh read %+v", outputs)
	}
}

// TestEveryStepIsKnown checks that what is declared can be run and removed by
// the program on the deployer.
func TestEveryStepIsKnown(t *testing.T) {
	known := steps.All()
	for _, name := range []string{kubestep.ControlPlane, kubestep.Member, kubestep.Kubeconfig, kubestep.Smoke, kubestep.Guard} {
		if _, ok := known.Find(name); !ok {
			t.Errorf("the step %s is not known", name)
		}
	}
}

// TestWhatCannotChange checks that facts with which a cluster began are refused
// when they change, each with why.
func TestWhatCannotChange(t *testing.T) {
	before := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t, highlyAvailable)))
	for name, c := range map[string]struct {
		change func(*config.Environment)
		want   []string
	}{
		"nothing":        {func(*config.Environment) {}, nil},
		"another worker": {func(e *config.Environment) { e.Hosts[1].Names = "gpu[1-3]" }, nil},
		"endpoint":       {func(e *config.Environment) { e.Kubernetes.Endpoint = "other.example" }, []string{"kubernetes.endpoint was api.cluster.example:6443 and cannot become other.example:6443"}},
		"networks": {func(e *config.Environment) {
			e.Kubernetes.PodCIDR, e.Kubernetes.ServiceCIDR = "10.128.0.0/14", "10.112.0.0/16"
		},
			[]string{"kubernetes.podCIDR was 10.244.0.0/16", "kubernetes.serviceCIDR was 10.96.0.0/16"}},
		"another first plane": {func(e *config.Environment) { e.Hosts[0].Names = "ctl[2-4]" }, nil},
		"another order":       {func(e *config.Environment) { e.Hosts[0].Names = "ctl3,ctl1,ctl2" }, nil},
		"all planes are new":  {func(e *config.Environment) { e.Hosts[0].Names = "ctl[4-6]" }, []string{"none of the control planes ctl1, ctl2, ctl3 stays"}},
		"the next release":    {func(e *config.Environment) { e.Kubernetes.Version = "1.37" }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{Prior: before.State("")}
			// A preview keeps the probes of a real update from looking for the hosts.
			err := r.Run("s", program(pulumitest.Kubernetes(t, highlyAvailable, c.change)), func(info *pulumi.RunInfo) { info.DryRun = true })
			if (err == nil) != (c.want == nil) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v does not say %q", err, want)
				}
			}
		})
	}
}

// before is the state that an update of a program has left, with some words of
// it replaced.
func before(r *pulumitest.Recorder, words ...string) map[string]pulumitest.PriorResource {
	state := r.State("")
	for _, prior := range state {
		if stdin, ok := prior.Outputs["stdin"]; ok && stdin.IsString() {
			prior.Outputs["stdin"] = resource.NewStringProperty(strings.NewReplacer(words...).Replace(stdin.StringValue()))
		}
	}
	return state
}

// TestReleasesFollowOneAnother checks that a release that is left out, or an
// older one, is refused with what to write.
func TestReleasesFollowOneAnother(t *testing.T) {
	old := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t)))
	for name, c := range map[string]struct{ was, want string }{
		"one is left out": {"v1.34.1", `kubernetes.version was v1.34.1 and cannot become v1.36.3: no minor release can be left out; write "1.35"`},
		"back":            {"v1.37.2", `kubernetes.version was v1.37.2 and cannot become v1.36.3: a cluster does not go back; write "1.37"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{Prior: before(old, "v1.36.3", c.was)}
			err := r.Run("s", program(pulumitest.Kubernetes(t)), func(info *pulumi.RunInfo) { info.DryRun = true })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestWaves checks that workers that are upgraded wait for each other, in waves,
// and those that are not for nobody.
func TestWaves(t *testing.T) {
	four := func(e *config.Environment) { e.Hosts[1].Names = "gpu[1-4]" }
	old := pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t, four)))
	for name, c := range map[string]struct {
		change func(*config.Environment)
		waits  map[string][]string // for which other workers a worker waits
	}{
		"one at a time": {func(e *config.Environment) { e.Kubernetes.Version = "1.37" },
			map[string][]string{"gpu1": nil, "gpu2": {"gpu1"}, "gpu3": {"gpu1", "gpu2"}, "gpu4": {"gpu1", "gpu2", "gpu3"}}},
		"two at a time": {func(e *config.Environment) { e.Kubernetes.Version, e.Kubernetes.UpgradeAtOnce = "1.37", 2 },
			map[string][]string{"gpu1": nil, "gpu2": nil, "gpu3": {"gpu1", "gpu2"}, "gpu4": {"gpu1", "gpu2"}}},
		"with a new one": {func(e *config.Environment) { e.Kubernetes.Version, e.Hosts[1].Names = "1.37", "gpu[1-5]" },
			map[string][]string{"gpu2": {"gpu1"}, "gpu5": nil}},
		"the same release": {func(*config.Environment) {}, map[string][]string{"gpu1": nil, "gpu2": nil, "gpu4": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{Prior: old.State("")}
			if err := r.Run("s", program(pulumitest.Kubernetes(t, four, c.change)), func(info *pulumi.RunInfo) { info.DryRun = true }); err != nil {
				t.Fatal(err)
			}
			for worker, want := range c.waits {
				var got []string
				for _, other := range r.Before("c-" + worker) {
					if host, ok := strings.CutPrefix(other, "c-gpu"); ok {
						got = append(got, "gpu"+host)
					}
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s waits for %q, want %q", worker, got, want)
				}
			}
		})
	}
}
