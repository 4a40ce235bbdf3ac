package slurm_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
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
		"an older release":         {func(e *config.Environment) { e.Slurm.Version = "22.05" }, false, "put slurm.version back"},
		"a newer release":          {func(e *config.Environment) { e.Slurm.Version = "26.05" }, false, "mariadb-dump slurm_acct_db"},
		"the name of the resource": {func(*config.Environment) {}, true, "put the name back"},
	} {
		t.Run(name, func(t *testing.T) {
			built := pulumitest.Run(t, "s", program(pulumitest.Environment(t)))
			prefix := ""
			if c.rename {
				prefix = "old"
			}
			r := &pulumitest.Recorder{Prior: built.State(prefix)}
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

// TestTwoClusters checks that a stack may hold two clusters, update after
// update, and gain the second later, but none that takes the hosts or the name
// of another one.
func TestTwoClusters(t *testing.T) {
	clusters := func(all ...*config.Environment) pulumi.RunFunc {
		return func(ctx *pulumi.Context) error {
			assessment, err := heal.Assess(ctx)
			if err != nil {
				return err
			}
			for _, env := range all {
				machines, err := hosts.NewHosts(ctx, env.Name, &hosts.HostsArgs{Environment: env, Connections: pulumitest.Connections(env)})
				if err != nil {
					return err
				}
				if _, err := slurm.NewCluster(ctx, env.Name, &slurm.ClusterArgs{Environment: env, Hosts: machines, Heal: assessment}); err != nil {
					return err
				}
			}
			return nil
		}
	}
	named := func(name string, changes ...func(*config.Environment)) *config.Environment {
		return pulumitest.Environment(t, append(changes, func(e *config.Environment) { e.Name = name })...)
	}
	servers := func(e *config.Environment) {
		e.Lab, e.Inventory = nil, &config.Inventory{SSH: config.SSH{TrustOnFirstUse: true}}
	}
	for name, c := range map[string]struct {
		before, now []*config.Environment
		want        string
	}{
		"both again":              {[]*config.Environment{named("a"), named("b")}, []*config.Environment{named("a"), named("b")}, ""},
		"a second one":            {[]*config.Environment{named("a")}, []*config.Environment{named("a"), named("b")}, ""},
		"one goes":                {[]*config.Environment{named("a"), named("b")}, []*config.Environment{named("b")}, ""},
		"the name of another one": {[]*config.Environment{named("a")}, []*config.Environment{named("b", func(e *config.Environment) { e.Slurm.ClusterName = "a" })}, `built as "a"`},
		"the hosts of another":    {[]*config.Environment{named("a", servers)}, []*config.Environment{named("b", servers)}, `built as "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := &pulumitest.Recorder{Prior: pulumitest.Run(t, "s", clusters(c.before...)).State("")}
			err := r.Run("s", clusters(c.now...), asPreview)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// asPreview keeps the probes of a real update from looking for the hosts.
func asPreview(info *pulumi.RunInfo) { info.DryRun = true }

// TestCheckChangeJudgesItsEnvironment checks that it needs no other component to
// have done so.
func TestCheckChangeJudgesItsEnvironment(t *testing.T) {
	none := pulumitest.Environment(t)
	none.Slurm = nil
	bad := pulumitest.Environment(t)
	bad.Slurm.Partitions[0].Hosts = "nowhere"
	for name, c := range map[string]struct {
		env  *config.Environment
		want string
	}{
		"none":     {nil, "slurm section"},
		"no slurm": {none, "slurm section"},
		"bad":      {bad, "nowhere"},
		"good":     {pulumitest.Environment(t), ""},
	} {
		err := slurm.CheckChange("c", c.env, nil)
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
}
