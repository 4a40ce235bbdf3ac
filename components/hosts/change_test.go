package hosts_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestIDsThatCannotChange checks that a preview refuses them, with the way that
// exists, and nothing that hosts would take.
func TestIDsThatCannotChange(t *testing.T) {
	existing := func(e *config.Environment) { e.Identity.Source = config.IdentityExisting }
	uid := func(e *config.Environment) { e.Identity.Users[0].UID = 20009 }
	for name, c := range map[string]struct {
		before, now func(*config.Environment)
		quarantined bool
		want        string
	}{
		"a person's": {now: uid, want: "user alice has the id 20001 on the hosts and cannot get 20009, since files belong to the old one: put uid: 20001 back, or give the user a new name"},
		"a group's":  {now: func(e *config.Environment) { e.Identity.Groups[0].GID = 20009 }, want: "put gid: 20001 back, or give the group a new name"},
		"one of a new person": {now: func(e *config.Environment) {
			e.Identity.Users = append(e.Identity.Users, config.User{Name: "bob", UID: 20002, Group: "research"})
		}},
		"accounts are the site's":             {before: existing, now: func(e *config.Environment) { existing(e); uid(e) }},
		"accounts were the site's":            {before: existing, now: uid},
		"hosts that may not have got the ids": {quarantined: true, now: uid},
		"hosts that are all new": {now: func(e *config.Environment) {
			uid(e)
			e.Hosts[0].Names, e.Hosts[1].Names, e.Hosts[2].Names = "ctl7", "login7", "gpu[7-8]"
			e.Slurm.Partitions[0].Hosts = "gpu[7-8]"
		}},
		"hosts of another environment": {now: func(e *config.Environment) { uid(e); e.Name = "other" }},
	} {
		t.Run(name, func(t *testing.T) {
			if c.before == nil {
				c.before = func(*config.Environment) {}
			}
			r := &pulumitest.Recorder{Prior: prepare(t, pulumitest.Environment(t, c.before)).State("")}
			if c.quarantined {
				for _, was := range r.Prior {
					was.Outputs["stdout"] = resource.NewStringProperty(`{"host":"h","status":"quarantined"}`)
				}
			}
			env := pulumitest.Environment(t, c.now)
			err := r.Run("s", func(ctx *pulumi.Context) error {
				assessment, err := heal.Assess(ctx)
				if err != nil {
					return err
				}
				_, err = hosts.NewHosts(ctx, "mine", &hosts.HostsArgs{Environment: env, Connections: pulumitest.Connections(env), Heal: assessment})
				return err
			}, func(info *pulumi.RunInfo) { info.DryRun = true })
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if err != nil && len(r.Resources()) > 0 {
				t.Errorf("registered before it was refused:\n%s", r.Inventory())
			}
		})
	}
}
