package kueue_test

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

	"github.com/gpucluster/pulumi-gpucluster/components/kueue"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const canary = "a-kubeconfig"

// Files of environments: one in a lab that two teams share, and a large one.
var (
	teams  = filepath.Join("testdata", "Pulumi.teams.yaml")
	onPrem = filepath.Join("..", "..", "stacks", "Pulumi.example-onprem-kubernetes.yaml")
)

// TestInventory pins types, names and parents of all resources: a changed one
// would take queues and namespaces away from those who work in them.
func TestInventory(t *testing.T) {
	for _, file := range []string{teams, onPrem} {
		r := run(t, pulumitest.Load(t, file))
		golden(t, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "Pulumi."), ".yaml")+".txt", r.Inventory())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
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
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// run declares queues in a cluster.
func run(t *testing.T, env *config.Environment) *pulumitest.Recorder {
	t.Helper()
	return pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		api, err := kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{})
		if err != nil {
			return err
		}
		_, err = kueue.NewQueues(ctx, "q", &kueue.QueuesArgs{
			Environment: env, Kubeconfig: pulumi.String(canary), Provider: api, Charts: pulumi.String("charts"),
		})
		return err
	})
}

// TestOrder checks that nothing comes before what it needs, and that people are
// let in last.
func TestOrder(t *testing.T) {
	all := run(t, pulumitest.Load(t, teams)).ByName()
	for name, want := range map[string][]string{
		"q-ready":                       {"q-release"},
		"q-topology-fabric":             {"q-ready"},
		"q-resourceflavor-h100":         {"q-ready", "q-topology-fabric"},
		"q-clusterqueue-research":       {"q-ready", "q-resourceflavor-h100"},
		"q-localqueue-research-default": {"q-clusterqueue-research", "q-namespace-research", "q-ready"},
		"q-namespace-research":          {"q-namespaces"},
		"q-rolebinding-product-gpucluster-edit": {
			"q-clusterqueue-product", "q-localqueue-product-default", "q-namespace-product", "q-resourcequota-product-gpucluster-queue",
			"q-validatingadmissionpolicy-gpucluster-team-product", "q-validatingadmissionpolicybinding-gpucluster-queue",
			"q-validatingadmissionpolicybinding-gpucluster-team-product",
		},
		"q-resourcequota-research-gpucluster-queue":           {"q-namespace-research"},
		"q-validatingadmissionpolicybinding-gpucluster-queue": {"q-validatingadmissionpolicy-gpucluster-queue"},
	} {
		args, ok := all[name]
		if !ok {
			t.Errorf("there is no %s", name)
		} else if got := pulumitest.DependsOn(args); !slices.Equal(got, want) {
			t.Errorf("%s comes after %q, want %q", name, got, want)
		}
	}
}

// TestEveryObjectGoesWithTheCluster checks that a destroy needs no API that
// answers, that all are reached through the named cluster, and that nobody sees
// the kubeconfig.
func TestEveryObjectGoesWithTheCluster(t *testing.T) {
	for name, args := range run(t, pulumitest.Load(t, teams)).ByName() {
		if strings.HasPrefix(args.TypeToken, "kubernetes:") {
			if !strings.HasSuffix(args.RegisterRPC.GetDeletedWith(), "::api") {
				t.Errorf("%s is deleted with %q", name, args.RegisterRPC.GetDeletedWith())
			}
			if !strings.Contains(args.RegisterRPC.GetProvider(), "::api::") {
				t.Errorf("%s is reached through %q", name, args.RegisterRPC.GetProvider())
			}
		}
		if strings.Contains(pulumitest.Clear(resource.NewObjectProperty(args.Inputs)), canary) {
			t.Errorf("%s shows the kubeconfig", name)
		}
	}
}

// TestCaseK13 checks that the chart is installed by Helm itself: a chart whose
// objects are made one by one loses its hooks and its order.
func TestCaseK13(t *testing.T) {
	for name, args := range run(t, pulumitest.Load(t, teams)).ByName() {
		if strings.Contains(args.TypeToken, "helm.sh") && args.TypeToken != "kubernetes:helm.sh/v3:Release" {
			t.Errorf("%s is a %s", name, args.TypeToken)
		}
	}
}

// TestObjects checks what of an environment arrives in objects.
func TestObjects(t *testing.T) {
	all := run(t, pulumitest.Load(t, teams)).ByName()
	for name, want := range map[string]string{
		"q-clusterqueue-product":                               "borrowingLimit",
		"q-validatingadmissionpolicy-gpucluster-team-research": "variables.groups.all(id, id in [20001])",
		"q-validatingadmissionpolicy-gpucluster-team-product":  "variables.users.all(id, id in [20002])",
		"q-rolebinding-research-gpucluster-edit":               "research",
		"q-workloadpriorityclass-urgent":                       "displaces batch jobs of the same team",
		"q-release":                                            "charts/kueue-0.17.0.tgz",
	} {
		if text := all[name].Inputs.Mappable(); !strings.Contains(strings.ReplaceAll(fmt.Sprint(text), "\n", " "), want) {
			t.Errorf("%s has no %q: %v", name, want, text)
		}
	}
}

// TestArguments checks that nothing is registered before all that is wrong is
// told.
func TestArguments(t *testing.T) {
	good := pulumitest.Load(t, teams)
	other := pulumitest.Load(t, teams)
	other.Kubernetes.Queueing, other.Kubernetes.Teams[0].Weight = config.QueueingVolcano, 1
	wrong := pulumitest.Load(t, teams)
	wrong.Kubernetes.Teams[0].GPUs["b200"] = config.GPUQuota{Nominal: 1}
	key := pulumi.String(canary)
	for name, c := range map[string]struct {
		args *kueue.QueuesArgs
		want string
	}{
		"none":           {nil, "kubernetes section"},
		"Slurm's":        {&kueue.QueuesArgs{Environment: pulumitest.Load(t, filepath.Join("..", "..", "stacks", "Pulumi.lab-slurm.yaml")), Kubeconfig: key}, "kubernetes section"},
		"Volcano's":      {&kueue.QueuesArgs{Environment: other, Kubeconfig: key}, `"volcano" as kubernetes.queueing`},
		"no kubeconfig":  {&kueue.QueuesArgs{Environment: good}, "need a kubeconfig"},
		"no provider":    {&kueue.QueuesArgs{Environment: good, Kubeconfig: key}, "and a provider"},
		"a wrong object": {&kueue.QueuesArgs{Environment: wrong, Kubeconfig: key, Provider: &kubernetes.Provider{}}, "b200"},
	} {
		r := &pulumitest.Recorder{}
		err := r.Run("s", func(ctx *pulumi.Context) error {
			_, err := kueue.NewQueues(ctx, "q", c.args)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Resources()) > 0 {
			t.Errorf("%s: error %v after registering:\n%s", name, err, r.Inventory())
		}
	}
}

// TestCaseK48 checks that a ServiceMonitor is made only where it is asked for, and
// not before somebody has looked for its definition.
func TestCaseK48(t *testing.T) {
	env := pulumitest.Load(t, teams)
	if all := run(t, env).ByName(); all["q-monitors"].Name != "" {
		t.Error("a definition is looked for that nobody needs")
	}
	env.Kubernetes.Monitoring = &config.Monitoring{ServiceMonitors: true}
	release := run(t, env).ByName()["q-release"]
	if on := pulumitest.DependsOn(release); !slices.Equal(on, []string{"q-monitors", "q-release-record"}) || !strings.Contains(fmt.Sprint(release.Inputs.Mappable()), "enablePrometheus:true") {
		t.Errorf("the chart comes after %q, with %v", on, release.Inputs)
	}
}
