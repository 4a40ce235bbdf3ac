package connection

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// TestJumpThroughALoginHost logs in to real SSH daemons through one of the
// inventory's own hosts, which is named by its name.
func TestJumpThroughALoginHost(t *testing.T) {
	if testing.Short() {
		t.Skip("needs lab hosts; not in -short")
	}
	engine, err := lab.EnsureEngine(t.Context(), os.Stderr)
	if err != nil {
		t.Skipf("needs a Docker engine: %v", err)
	}
	image, err := engine.EnsureImage(t.Context(), lab.ImageSpec{Slurm: "24.11"})
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("jump%d", os.Getpid())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := engine.RemoveNetwork(ctx, name); err != nil {
			t.Error(err)
		}
	})
	if _, err := engine.EnsureNetwork(t.Context(), lab.NetworkSpec{Lab: name}); err != nil {
		t.Fatal(err)
	}
	pair, err := lab.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	env := inventory(config.SSH{Bastion: "gpu1"})
	env.Hosts[0].Names, env.Inventory.Addresses = "gpu[1-2]", map[string]string{}
	for _, host := range []string{"gpu1", "gpu2"} {
		made, err := engine.EnsureHost(t.Context(), lab.HostSpec{Lab: name, Name: host, Image: image.Image, AuthorizedKey: pair.Public})
		if err != nil {
			t.Fatal(err)
		}
		env.Inventory.Addresses[host] = made.Address
		env.Inventory.SSH.HostKeys = append(env.Inventory.SSH.HostKeys, host+" "+made.HostKey)
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
		session, err := remote.Open(t.Context(), remote.Config{Targets: []remote.Target{target}, PrivateKey: pair.Private})
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
