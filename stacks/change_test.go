package main

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestARefusedChangeTouchesNoHost checks that what cannot change is refused
// before the lab's hosts are registered: they would be made anew for it.
func TestARefusedChangeTouchesNoHost(t *testing.T) {
	state := run(t, "lab-slurm").State("")
	const controller = "urn:pulumi:s::gpucluster::command:local:Command::lab-slurm-controller"
	spec := state[controller].Outputs["stdin"].StringValue()
	older := strings.Replace(spec, `"version": "24.11"`, `"version": "22.05"`, 1)
	if older == spec {
		t.Fatalf("the controller's spec has another form: %s", spec)
	}
	state[controller].Outputs["stdin"] = resource.NewStringProperty(older)
	r := &pulumitest.Recorder{Prior: state}
	err := r.Run("lab-slurm", build, func(info *pulumi.RunInfo) { info.DryRun = true })
	if err == nil || !strings.Contains(err.Error(), "put slurm.version back") {
		t.Errorf("error %v", err)
	}
	if all := r.Commands(); len(all) > 0 {
		t.Errorf("registered before it was refused: %v", all)
	}
}
