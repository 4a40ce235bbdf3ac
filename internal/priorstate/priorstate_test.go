package priorstate_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// read reads the state that the engine would give.
func read(t *testing.T, prior map[string]pulumitest.PriorResource) *priorstate.State {
	t.Helper()
	var state *priorstate.State
	r := &pulumitest.Recorder{Prior: prior}
	err := r.Run("s", func(ctx *pulumi.Context) error {
		var err error
		state, err = priorstate.Read(ctx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestRead(t *testing.T) {
	text := resource.NewStringProperty
	state := read(t, map[string]pulumitest.PriorResource{
		"urn:pulumi:s::p::gpucluster:lab:Lab$command:local:Command::a": {Type: priorstate.CommandType, Outputs: resource.PropertyMap{
			"stdin": text(`{"x":1}`), "stdout": resource.MakeSecret(text("hidden")),
			"environment": resource.NewObjectProperty(resource.PropertyMap{"PLAIN": text("p"), "SECRET": resource.MakeSecret(text("s"))}),
		}},
		"urn:pulumi:s::p::gpucluster:lab:Lab::b":            {Type: "gpucluster:lab:Lab"},
		"urn:pulumi:s::p::kubernetes:helm.sh/v3:Release::c": {Type: priorstate.ReleaseType},
	})
	if got := len(state.Commands()); got != 1 {
		t.Fatalf("%d commands, want the one", got)
	}
	a, ok := state.Command("a")
	if !ok || a.Name != "a" {
		t.Fatalf("a is %+v, %v", a, ok)
	}
	for what, got := range map[string][2]string{
		"a property":                          {a.Text("stdin"), `{"x":1}`},
		"a secret one":                        {a.Text("stdout"), "hidden"},
		"one that is absent":                  {a.Text("stderr"), ""},
		"one that is no text":                 {a.Text("environment"), ""},
		"an entry":                            {a.Environment("PLAIN"), "p"},
		"a secret entry":                      {a.Environment("SECRET"), "s"},
		"an absent entry":                     {a.Environment("NONE"), ""},
		"an entry of a resource without them": {priorstate.Resource{}.Environment("PLAIN"), ""},
	} {
		if got[0] != got[1] {
			t.Errorf("%s reads %q, want %q", what, got[0], got[1])
		}
	}
	if !state.Release("c") || state.Release("a") || state.Release("b") {
		t.Error("c alone is a release")
	}
	if _, ok := state.Command("b"); ok {
		t.Error("a component counts as a command")
	}
}

// TestNothingBefore checks a stack that was never updated, and no state at all.
func TestNothingBefore(t *testing.T) {
	var none *priorstate.State
	for name, state := range map[string]*priorstate.State{"never updated": read(t, nil), "no state": none} {
		if _, ok := state.Command("a"); ok || len(state.Commands()) != 0 {
			t.Errorf("%s: something is known", name)
		}
	}
}
