package slurm_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestWhatCannotChange checks that it is refused before anything is
// registered, with the way that exists.
func TestWhatCannotChange(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config.Environment)
		rename bool
		want   string
	}{
		"nothing changed":          {func(*config.Environment) {}, false, ""},
		"a limit":                  {func(e *config.Environment) { e.Slurm.Partitions[0].MaxTime = "01:00:00" }, false, ""},
		"the cluster's name":       {func(e *config.Environment) { e.Slurm.ClusterName = "other" }, false, "make a new environment"},
		"the slurm user's id":      {func(e *config.Environment) { e.Slurm.SlurmUID = 500 }, false, "slurm.slurmUid was 64030 and cannot become 500"},
		"an older release":         {func(e *config.Environment) { e.Slurm.Version = "22.05" }, false, "refused"},
		"the name of the resource": {func(*config.Environment) {}, true, "put the name back"},
	} {
		t.Run(name, func(t *testing.T) {
			built := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
			r := &pulumitest.Recorder{Prior: map[string]pulumitest.PriorResource{}}
			for resourceName, args := range built.Commands() {
				if c.rename {
					resourceName = "old" + resourceName
				}
				outputs := args.Inputs.Copy()
				outputs["stdout"] = resource.MakeSecret(resource.NewStringProperty("{}"))
				r.Prior["urn:pulumi:s::gpucluster::command:local:Command::"+resourceName] = pulumitest.PriorResource{Type: args.TypeToken, Outputs: outputs}
			}
			err := r.Run("s", program(pulumitest.Environment(t, c.change)), asPreview)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if strings.Contains(r.Inventory(), "gpucluster:slurm:Cluster") {
				t.Error("the cluster was registered before it was refused")
			}
		})
	}
}

// asPreview keeps the probes of a real update from looking for the hosts.
func asPreview(info *pulumi.RunInfo) { info.DryRun = true }
