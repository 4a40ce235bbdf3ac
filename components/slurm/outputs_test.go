package slurm_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
)

// exported is what a stack with a cluster on these connections gives out, as
// pulumi prints it, and the names of what is secret in it.
func exported(t *testing.T, env *config.Environment, connections connection.Connections) (stackoutput.Outputs, []string) {
	t.Helper()
	var outputs stackoutput.Outputs
	var secret []string
	pulumitest.Run(t, "s", func(ctx *pulumi.Context) error {
		machines, err := hosts.NewHosts(ctx, "c", &hosts.HostsArgs{Environment: env, Connections: connections})
		if err != nil {
			return err
		}
		cluster, err := slurm.NewCluster(ctx, "c", &slurm.ClusterArgs{Environment: env, Hosts: machines})
		if err != nil {
			return err
		}
		for name, value := range cluster.Outputs() {
			if output, ok := value.(pulumi.Output); ok && pulumi.IsSecret(output) {
				secret = append(secret, name)
			}
		}
		cluster.Outputs().ToMapOutput().ApplyT(func(all map[string]any) (bool, error) {
			data, err := json.Marshal(all)
			if err != nil {
				return false, err
			}
			return true, json.Unmarshal(data, &outputs)
		})
		return nil
	})
	return outputs, secret
}

// TestOutputs checks that what a program exports is what status and ssh read,
// however its hosts are reached.
func TestOutputs(t *testing.T) {
	servers := pulumitest.Environment(t, func(e *config.Environment) {
		e.Lab, e.Home, e.Inventory = nil, nil, &config.Inventory{SSH: config.SSH{TrustOnFirstUse: true, User: "deploy"}}
		e.Hosts[0].Roles = []config.Role{config.RoleController, config.RoleDatabase}
	})
	inventory, err := connection.FromInventory(servers)
	if err != nil {
		t.Fatal(err)
	}
	lab := pulumitest.Environment(t)
	for name, c := range map[string]struct {
		env         *config.Environment
		connections connection.Connections
		user, key   string
		firstUse    bool
		secret      []string
	}{
		"an inventory that trusts": {servers, inventory, "deploy", "", true, nil},
		"hosts with a key":         {lab, pulumitest.Connections(lab), "root", "a-private-key", false, []string{"sshPrivateKey"}},
	} {
		t.Run(name, func(t *testing.T) {
			outputs, secret := exported(t, c.env, c.connections)
			if outputs.Name != "env" || outputs.Scheduler != "slurm" || !slices.Equal(outputs.Controllers, []string{"ctl1"}) ||
				!slices.Equal(outputs.Logins, []string{"login1"}) || len(outputs.Ledger) != 2 || outputs.Smoke == "" {
				t.Errorf("outputs %+v", outputs)
			}
			if outputs.PrivateKey != c.key || !slices.Equal(secret, c.secret) {
				t.Errorf("the key is %q, secret are %v", outputs.PrivateKey, secret)
			}
			session, err := outputs.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.Hosts(); !slices.Equal(got, slices.Sorted(maps.Keys(c.connections))) {
				t.Errorf("hosts %v", got)
			}
			if ctl, _ := session.Target("ctl1"); ctl.User != c.user || ctl.TrustOnFirstUse != c.firstUse {
				t.Errorf("ctl1 is reached by %+v", ctl)
			}
		})
	}
}
