package volcano_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/volcano"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const canary = "a-kubeconfig"

// environment is one that two teams share.
func environment(t *testing.T) *config.Environment {
	t.Helper()
	return pulumitest.Load(t, filepath.Join("testdata", "Pulumi.teams.yaml"))
}

func run(t *testing.T) *pulumitest.Recorder {
	t.Helper()
	return pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		api, err := kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{})
		if err != nil {
			return err
		}
		_, err = volcano.NewScheduler(ctx, "v", &volcano.SchedulerArgs{Environment: environment(t), Kubeconfig: pulumi.String(canary), Provider: api})
		return err
	})
}

// TestInventory pins types, names and parents of all resources: a changed one
// would take queues and namespaces away from those who work in them.
func TestInventory(t *testing.T) {
	got, path := run(t).Inventory(), filepath.Join("testdata", "teams.txt")
	if *update {
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

// TestOrder checks that nothing comes before what it needs, and that people are let
// in last.
func TestOrder(t *testing.T) {
	all := run(t).ByName()
	for name, want := range map[string][]string{
		"v-release":              {"v-namespace-volcano-system", "v-release-record"},
		"v-ready":                {"v-release"},
		"v-hypernode-leaf1":      {"v-ready"},
		"v-hypernode-spine1":     {"v-hypernode-leaf1", "v-hypernode-leaf2", "v-ready"},
		"v-queue-shared":         {"v-ready"},
		"v-queue-research":       {"v-queue-shared", "v-ready"},
		"v-priorityclass-urgent": nil,
		"v-rolebinding-research-gpucluster-edit": {
			"v-clusterrole-gpucluster-volcano-user", "v-namespace-research", "v-queue-research", "v-resourcequota-research-gpucluster-queue",
			"v-validatingadmissionpolicy-gpucluster-team-research", "v-validatingadmissionpolicybinding-gpucluster-team-research",
			"v-validatingadmissionpolicybinding-gpucluster-volcano",
		},
	} {
		args, ok := all[name]
		if got := pulumitest.DependsOn(args); !ok || !slices.Equal(got, want) {
			t.Errorf("%s comes after %q, want %q", name, got, want)
		}
	}
}

// TestCaseK13 checks that the chart, whose hook makes the webhooks' certificates, is
// installed by Helm itself.
func TestCaseK13(t *testing.T) {
	if got := run(t).ByName()["v-release"].TypeToken; got != "kubernetes:helm.sh/v3:Release" {
		t.Errorf("it is a %s", got)
	}
}

// TestEverythingGoesWithTheCluster checks that a destroy needs no API that answers,
// and that nobody sees the kubeconfig.
func TestEverythingGoesWithTheCluster(t *testing.T) {
	for name, args := range run(t).ByName() {
		if strings.HasPrefix(args.TypeToken, "kubernetes:") && !strings.HasSuffix(args.RegisterRPC.GetDeletedWith(), "::api") {
			t.Errorf("%s is deleted with %q", name, args.RegisterRPC.GetDeletedWith())
		}
		if strings.Contains(pulumitest.Clear(resource.NewObjectProperty(args.Inputs)), canary) {
			t.Errorf("%s shows the kubeconfig", name)
		}
	}
}

// TestArguments checks that nothing is registered before all that is wrong is told.
func TestArguments(t *testing.T) {
	other := environment(t)
	other.Kubernetes.Queueing = config.QueueingKueue
	weighed := environment(t)
	weighed.Kubernetes.Teams[0].Weight = 3
	key := pulumi.String(canary)
	for name, c := range map[string]struct {
		args *volcano.SchedulerArgs
		want string
	}{
		"none":          {nil, "kubernetes section"},
		"Kueue's":       {&volcano.SchedulerArgs{Environment: other, Kubeconfig: key}, `"kueue" as kubernetes.queueing`},
		"no kubeconfig": {&volcano.SchedulerArgs{Environment: environment(t)}, "needs a kubeconfig"},
		"by weight":     {&volcano.SchedulerArgs{Environment: weighed, Kubeconfig: key}, "who comes first"},
	} {
		r := &pulumitest.Recorder{}
		err := r.Run("s", func(ctx *pulumi.Context) error {
			_, err := volcano.NewScheduler(ctx, "v", c.args)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Resources()) > 0 {
			t.Errorf("%s: error %v after registering:\n%s", name, err, r.Inventory())
		}
	}
}
