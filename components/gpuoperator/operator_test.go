package gpuoperator_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const canary = "a-kubeconfig"

// environment is the example's, with everything that the component makes.
func environment(t *testing.T) *config.Environment {
	t.Helper()
	env := pulumitest.Load(t, filepath.Join("..", "..", "stacks", "Pulumi.example-onprem-kubernetes.yaml"))
	env.Kubernetes.RDMA = &config.RDMA{}
	env.Kubernetes.Monitoring = &config.Monitoring{ServiceMonitors: true}
	return env
}

// run declares the operator, and the wait for its work after a worker.
func run(t *testing.T, env *config.Environment, charts pulumi.StringInput) *pulumitest.Recorder {
	t.Helper()
	return pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		api, err := kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{})
		if err != nil {
			return err
		}
		operator, err := gpuoperator.NewOperator(ctx, "g", &gpuoperator.OperatorArgs{
			Environment: env, Kubeconfig: pulumi.String(canary), Provider: api, Charts: charts,
		})
		if err != nil {
			return err
		}
		worker, err := kubernetes.NewProvider(ctx, "worker", &kubernetes.ProviderArgs{})
		if err != nil {
			return err
		}
		_, err = operator.Wait(ctx, worker)
		return err
	})
}

// TestInventory pins types, names and parents of all resources.
func TestInventory(t *testing.T) {
	got, path := run(t, environment(t), nil).Inventory(), filepath.Join("testdata", "inventory.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("the inventory is\n%s\nwant\n%s", got, want)
	}
}

// TestCaseK01 checks that definitions come in a step of their own, before the chart
// that has objects of their kinds, and that Helm leaves them alone.
func TestCaseK01(t *testing.T) {
	all := run(t, environment(t), nil).ByName()
	for name, want := range map[string][]string{
		"g-gpu-operator":       {"g-gpu-operator-definitions", "g-gpu-operator-record", "g-monitors", "g-namespace-gpu-operator"},
		"g-network-operator":   {"g-namespace-nvidia-network-operator", "g-network-operator-definitions", "g-network-operator-record"},
		"g-nic-cluster-policy": {"g-gpu-operator", "g-network-operator"},
		"g-ready":              {"g-gpu-operator", "g-network-operator", "g-nic-cluster-policy", "worker"},
	} {
		args, ok := all[name]
		if got := pulumitest.DependsOn(args); !ok || !slices.Equal(got, want) {
			t.Errorf("%s comes after %q, want %q", name, got, want)
		}
		if strings.Contains(args.TypeToken, "helm.sh") && !args.Inputs["skipCrds"].BoolValue() {
			t.Errorf("%s: Helm makes definitions too", name)
		}
	}
}

// TestCaseK11 checks that Helm does not wait for pods that pull images of gigabytes
// on workers that have not joined: that is done, for as long as the environment
// says, by a step that tells what is missing.
func TestCaseK11(t *testing.T) {
	env := environment(t)
	env.Kubernetes.GPUOperator.Timeout = "45m"
	all := run(t, env, nil).ByName()
	for name, args := range all {
		if strings.Contains(args.TypeToken, "helm.sh") && (!args.Inputs["skipAwait"].BoolValue() || args.Inputs["timeout"].NumberValue() < 600) {
			t.Errorf("%s waits: %v", name, args.Inputs)
		}
	}
	if spec := all["g-ready"].Inputs["stdin"].StringValue(); !strings.Contains(spec, `"limit": "45m"`) || !strings.Contains(spec, "clusterpolicies/cluster-policy") {
		t.Errorf("waited is for %s", spec)
	}
}

// TestCaseK13 checks that charts with hooks are installed by Helm itself.
func TestCaseK13(t *testing.T) {
	for name, args := range run(t, environment(t), nil).ByName() {
		if strings.Contains(args.TypeToken, "helm.sh") && args.TypeToken != "kubernetes:helm.sh/v3:Release" {
			t.Errorf("%s is a %s", name, args.TypeToken)
		}
	}
}

// TestCaseK14 checks that charts with hooks do not keep Helm waiting for pods that need
// the hooks' work: a step waits for what the operators say, when all is there.
func TestCaseK14(t *testing.T) {
	all := run(t, environment(t), nil).ByName()
	for name, args := range all {
		if strings.Contains(args.TypeToken, "helm.sh") {
			if !args.Inputs["skipAwait"].BoolValue() || !slices.Contains(pulumitest.DependsOn(all["g-ready"]), name) {
				t.Errorf("%s is waited for by Helm, or by nobody", name)
			}
		}
	}
}

// TestPlaces checks where charts come from: the place of the site's, or else the
// repository of their makers.
func TestPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		charts            pulumi.StringInput
		chart, repository string
	}{
		"their makers'":   {nil, "gpu-operator", "https://helm.ngc.nvidia.com/nvidia"},
		"nothing is said": {pulumi.String(""), "gpu-operator", "https://helm.ngc.nvidia.com/nvidia"},
		"a registry":      {pulumi.String("oci://site/charts"), "oci://site/charts/gpu-operator", ""},
		"a folder":        {pulumi.String("../charts/"), "../charts/gpu-operator-v26.7.0.tgz", ""},
		"known later":     {pulumi.String("http://lab/charts").ToStringOutput(), "http://lab/charts/gpu-operator-v26.7.0.tgz", ""},
		"nothing later":   {pulumi.String("").ToStringOutput(), "gpu-operator", "https://helm.ngc.nvidia.com/nvidia"},
	} {
		all := run(t, environment(t), c.charts).ByName()
		release := all["g-gpu-operator"].Inputs
		repository := ""
		if options := release["repositoryOpts"]; options.IsObject() {
			repository = options.ObjectValue()["repo"].StringValue()
		}
		if got := release["chart"].StringValue(); got != c.chart || repository != c.repository {
			t.Errorf("%s: the chart is %q in %q", name, got, repository)
		}
		if c.charts != nil {
			continue
		}
		if got := pulumitest.Entry(all["g-gpu-operator-definitions"], "GPUCLUSTER_CHARTS"); got != "" {
			t.Errorf("%s: definitions come from %q", name, got)
		}
	}
}

// TestEverythingGoesWithTheCluster checks that a destroy needs no API that answers,
// and that nobody sees the kubeconfig.
func TestEverythingGoesWithTheCluster(t *testing.T) {
	for name, args := range run(t, environment(t), nil).ByName() {
		if strings.HasPrefix(args.TypeToken, "kubernetes:") {
			if !strings.HasSuffix(args.RegisterRPC.GetDeletedWith(), "::api") || !strings.Contains(args.RegisterRPC.GetProvider(), "::api::") {
				t.Errorf("%s is deleted with %q, and reached by %q", name, args.RegisterRPC.GetDeletedWith(), args.RegisterRPC.GetProvider())
			}
		}
		if strings.Contains(pulumitest.Clear(resource.NewObjectProperty(args.Inputs)), canary) {
			t.Errorf("%s shows the kubeconfig", name)
		}
	}
}

// TestTaints checks that what looks after hosts runs on those that the environment
// keeps for some pods, and on those that are being validated.
func TestTaints(t *testing.T) {
	values := fmt.Sprint(run(t, environment(t), nil).ByName()["g-gpu-operator"].Inputs["values"].Mappable())
	for _, want := range []string{"example.org/render", "gpucluster/validating", "nvidia.com/gpu"} {
		if !strings.Contains(values, want) {
			t.Errorf("nothing tolerates %s: %s", want, values)
		}
	}
}

// TestArguments checks that nothing is registered before all that is wrong is told.
func TestArguments(t *testing.T) {
	off, wrong := environment(t), environment(t)
	no := false
	off.Kubernetes.RDMA, off.Kubernetes.GPUOperator = nil, &config.GPUOperator{Enabled: &no}
	wrong.Kubernetes.GPUOperator.MIG = &config.MIG{Slices: map[string]string{"l40sx4": "1g.10gb"}}
	key := pulumi.String(canary)
	for name, c := range map[string]struct {
		args *gpuoperator.OperatorArgs
		want string
	}{
		"none":                {nil, "kubernetes section"},
		"switched off":        {&gpuoperator.OperatorArgs{Environment: off, Kubeconfig: key}, "has no GPU Operator"},
		"no kubeconfig":       {&gpuoperator.OperatorArgs{Environment: environment(t)}, "needs a kubeconfig"},
		"no provider":         {&gpuoperator.OperatorArgs{Environment: environment(t), Kubeconfig: key}, "a provider"},
		"a wrong environment": {&gpuoperator.OperatorArgs{Environment: wrong, Kubeconfig: key}, "cannot be cut"},
	} {
		r := &pulumitest.Recorder{}
		err := r.Run("s", func(ctx *pulumi.Context) error {
			_, err := gpuoperator.NewOperator(ctx, "g", c.args)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Resources()) > 0 {
			t.Errorf("%s: error %v after registering:\n%s", name, err, r.Inventory())
		}
	}
}
