package leaderworkerset_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/leaderworkerset"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

const canary = "a-kubeconfig"

func environment(t *testing.T) *config.Environment {
	t.Helper()
	env := pulumitest.Load(t, filepath.Join("..", "..", "stacks", "Pulumi.example-onprem-kubernetes.yaml"))
	env.Kubernetes.LeaderWorkerSet = true
	return env
}

// TestInventory pins types, names and parents, and that each comes after what it
// needs; and that nobody sees the kubeconfig.
func TestInventory(t *testing.T) {
	for charts, want := range map[string]string{"": "oci://registry.k8s.io/lws/charts/lws", "https://charts.example.org": "https://charts.example.org/lws-0.8.0.tgz"} {
		r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
			api, err := kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{})
			if err != nil {
				return err
			}
			_, err = leaderworkerset.NewLeaderWorkerSet(ctx, "j", &leaderworkerset.LeaderWorkerSetArgs{Environment: environment(t), Kubeconfig: pulumi.String(canary), Provider: api, Charts: pulumi.String(charts)})
			return err
		})
		var lines []string
		for _, args := range r.Resources() {
			lines = append(lines, args.TypeToken+" "+args.Name+" after "+strings.Join(pulumitest.DependsOn(args), ","))
			if args.Name == "j-release" {
				if got := args.Inputs["chart"].StringValue(); got != want {
					t.Errorf("the chart is at %s, want %s", got, want)
				}
				if limit := args.Inputs["timeout"].NumberValue(); limit != 600 {
					t.Errorf("case K38: Helm waits for %v s, want 600", limit)
				}
				if !args.Inputs["skipCrds"].BoolValue() {
					t.Error("Helm makes definitions that it would never renew")
				}
			}
			if strings.Contains(pulumitest.Clear(resource.NewObjectProperty(args.Inputs)), canary) {
				t.Errorf("%s shows the kubeconfig", args.Name)
			}
		}
		slices.Sort(lines)
		if got, want := strings.Join(lines, "\n"), `command:local:Command j-definitions after 
command:local:Command j-ready after j-release
command:local:Command j-release-record after 
gpucluster:leaderworkerset:LeaderWorkerSet j after 
kubernetes:helm.sh/v3:Release j-release after j-definitions,j-release-record
pulumi:providers:kubernetes api after `; got != want {
			t.Errorf("resources are\n%s\nwant\n%s", got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	without := environment(t)
	without.Kubernetes.LeaderWorkerSet = false
	for want, args := range map[string]*leaderworkerset.LeaderWorkerSetArgs{
		"needs an environment":             nil,
		"kubernetes.leaderWorkerSet: true": {Environment: without, Kubeconfig: pulumi.String("")},
		"needs a kubeconfig":               {Environment: environment(t)},
	} {
		r := &pulumitest.Recorder{}
		err := r.Run("s", func(ctx *pulumi.Context) error {
			_, err := leaderworkerset.NewLeaderWorkerSet(ctx, "j", args)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) || len(r.Resources()) > 0 {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
