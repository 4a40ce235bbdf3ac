package pulumitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
)

// TestRecorder checks that the recorder sees what a program says, and that it
// would see a secret in clear.
func TestRecorder(t *testing.T) {
	r := Run(t, "s", func(ctx *pulumi.Context) error {
		var last []pulumi.Resource
		for _, name := range []string{"a", "b", "c"} {
			made, err := stepresource.New(ctx, name, stepresource.Args{
				Step: "step-" + name, Spec: map[string]any{"of": name},
				Secrets: map[string]pulumi.StringInput{"KEPT": pulumi.String("kept-" + name)},
				Later:   map[string]pulumi.StringInput{"SHOWN": pulumi.String("shown-" + name)},
			}, pulumi.DependsOn(last))
			if err != nil {
				return err
			}
			last = []pulumi.Resource{made}
		}
		return nil
	})
	if got := r.Before("c"); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("before c: %v, want a and b", got)
	}
	c := r.Command("c")
	if Step(c) != "step-c" || Entry(c, "SHOWN") != "shown-c" || Entry(c, "GPUCLUSTER_SECRET_KEPT") != "kept-c" {
		t.Errorf("c runs %s with %s and %s", Step(c), Entry(c, "SHOWN"), Entry(c, "GPUCLUSTER_SECRET_KEPT"))
	}
	clear := Clear(resource.NewObjectProperty(c.Inputs))
	if strings.Contains(clear, "kept-c") || !strings.Contains(clear, "shown-c") {
		t.Errorf("in clear: %q", clear)
	}
	want := "command:local:Command a (parent gpucluster-s)\ncommand:local:Command b (parent gpucluster-s)\ncommand:local:Command c (parent gpucluster-s)\n"
	if r.Inventory() != want {
		t.Errorf("inventory:\n%swant:\n%s", r.Inventory(), want)
	}
}
