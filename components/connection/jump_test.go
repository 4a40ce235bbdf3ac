package connection

import (
	"fmt"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// TestJumpThroughALoginHost logs in to real SSH daemons through one of the
// inventory's own hosts, which is named by its name.
func TestJumpThroughALoginHost(t *testing.T) {
	made := labtest.New(t, "jump", lab.ImageSpec{Slurm: "24.11"}, lab.HostSpec{Name: "gpu1"}, lab.HostSpec{Name: "gpu2"})
	env := inventory(config.SSH{Bastion: "gpu1"})
	env.Hosts[0].Names, env.Inventory.Addresses = "gpu[1-2]", map[string]string{}
	for _, host := range made.Hosts {
		env.Inventory.Addresses[host.Name] = host.Address
		env.Inventory.SSH.HostKeys = append(env.Inventory.SSH.HostKeys, host.Name+" "+host.HostKey)
	}
	all, err := FromInventory(env)
	if err != nil {
		t.Fatal(err)
	}
	for host, through := range map[string]string{"gpu1": "", "gpu2": env.Inventory.Addresses["gpu1"]} {
		c := all[host]
		target := remote.Target{Name: host, Address: fmt.Sprint(c.Address), Port: c.Port, User: c.User, Bastion: c.Bastion}
		for _, line := range c.HostKeys.(pulumi.StringArray) {
			target.HostKeys = append(target.HostKeys, fmt.Sprint(line))
		}
		session, err := remote.Open(t.Context(), remote.Config{Targets: []remote.Target{target}, PrivateKey: made.Key.Private})
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		out, err := session.Run(t.Context(), host, "hostname; echo $SSH_CONNECTION | cut -d' ' -f1", nil)
		if err != nil {
			t.Error(err)
		}
		if through != "" && out != host+"\n"+through+"\n" {
			t.Errorf("%s answers %q, want one that is reached from %s", host, out, through)
		}
	}
}
