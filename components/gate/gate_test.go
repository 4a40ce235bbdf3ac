package gate_test

import (
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/gate"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestGate checks that the gate is given the sum of all outcomes.
func TestGate(t *testing.T) {
	r := pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		outcomes := []pulumi.StringOutput{
			pulumi.String(`{"host":"a","status":"ready"}`).ToStringOutput(),
			pulumi.String(`{"host":"b","status":"quarantined","reason":"no GPU 3"}`).ToStringOutput(),
		}
		_, err := gate.New(ctx, "last", &gate.Args{Environment: "e", Outcomes: outcomes})
		return err
	})
	last := r.Command("last")
	if got := pulumitest.Step(last); got != "gate" {
		t.Errorf("runs the step %s", got)
	}
	if got, want := pulumitest.Entry(last, "GPUCLUSTER_OUTCOMES"), `{"ready":1,"quarantined":1,"listed":[{"host":"b","reasons":["no GPU 3"]}]}`; got != want {
		t.Errorf("judges %s, want %s", got, want)
	}
}

func TestArguments(t *testing.T) {
	for name, args := range map[string]*gate.Args{"none": nil, "nothing to judge": {Environment: "e"}} {
		r := &pulumitest.Recorder{}
		err := r.Run("s", func(ctx *pulumi.Context) error {
			_, err := gate.New(ctx, "last", args)
			return err
		})
		if err == nil || len(r.Resources()) > 0 {
			t.Errorf("%s: error %v after registering:\n%s", name, err, r.Inventory())
		}
	}
}
