package jobset_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/jobset"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
)

const canary = "a-kubeconfig"

func environment(t *testing.T) *config.Environment {
	t.Helper()
	env := pulumitest.Load(t, filepath.Join("..", "..", "stacks", "Pulumi.example-onprem-kubernetes.yaml"))
	env.Kubernetes.JobSet = true
	return env
}

// TestInventory pins types, names and parents, and that each comes after what it
// needs; and that nobody sees the kubeconfig.
func TestInventory(t *testing.T) {
	for charts, want := range map[string]string{"": "oci://registry.k8s.io/jobset/charts/jobset", "https://charts.example.org": "https://charts.example.org/jobset-0.11.1.tgz"} {
		r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
			api, err := kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{})
			if err != nil {
				return err
			}
			_, err = jobset.NewJobSet(ctx, "j", &jobset.JobSetArgs{Environment: environment(t), Kubeconfig: pulumi.String(canary), Provider: api, Charts: pulumi.String(charts)})
			return err
		})
		var lines []string
		for _, args := range r.Resources() {
			lines = append(lines, args.TypeToken+" "+args.Name+" after "+strings.Join(pulumitest.DependsOn(args), ","))
			if args.Name == "j-release" {
				if got := args.Inputs["chart"].StringValue(); got != want {
					t.Errorf("the chart is at %s, want %s", got, want)
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
gpucluster:jobset:JobSet j after 
kubernetes:helm.sh/v3:Release j-release after j-definitions,j-release-record
pulumi:providers:kubernetes api after `; got != want {
			t.Errorf("resources are\n%s\nwant\n%s", got, want)
		}
	}
}

// TestCaseK38 checks that Helm waits long enough for an image to be pulled, and that
// waiting in vain tells of the pods that do not run.
func TestCaseK38(t *testing.T) {
	all := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		api, err := kubernetes.NewProvider(ctx, "api", &kubernetes.ProviderArgs{})
		if err != nil {
			return err
		}
		_, err = jobset.NewJobSet(ctx, "j", &jobset.JobSetArgs{Environment: environment(t), Kubeconfig: pulumi.String(canary), Provider: api})
		return err
	}).ByName()
	if limit := all["j-release"].Inputs["timeout"].NumberValue(); limit != 600 {
		t.Errorf("Helm waits for %v s, want 600", limit)
	}
	var spec operatorstep.ReadySpec
	if err := json.Unmarshal([]byte(all["j-ready"].Inputs["stdin"].StringValue()), &spec); err != nil {
		t.Fatal(err)
	}
	if namespace := all["j-release"].Inputs["namespace"].StringValue(); !slices.Equal(spec.Namespaces, []string{namespace}) {
		t.Errorf("pods are looked at in %q, want %s", spec.Namespaces, namespace)
	}
}

func TestArguments(t *testing.T) {
	without := environment(t)
	without.Kubernetes.JobSet = false
	for want, args := range map[string]*jobset.JobSetArgs{
		"needs an environment":    nil,
		"kubernetes.jobSet: true": {Environment: without, Kubeconfig: pulumi.String("")},
		"needs a kubeconfig":      {Environment: environment(t)},
	} {
		r := &pulumitest.Recorder{}
		err := r.Run("s", func(ctx *pulumi.Context) error {
			_, err := jobset.NewJobSet(ctx, "j", args)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) || len(r.Resources()) > 0 {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
