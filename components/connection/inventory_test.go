package connection

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

const key = "ssh-ed25519 AAAA"

func inventory(ssh config.SSH) *config.Environment {
	env := &config.Environment{
		Profiles:  map[string]config.Profile{"p": {}},
		Hosts:     []config.HostGroup{{Names: "gpu[1-3]", Profile: "p"}},
		Inventory: &config.Inventory{Addresses: map[string]string{"gpu[1-2]": "10.0.0.[1-2]"}, SSH: ssh},
	}
	env.SetDefaults()
	return env
}

// TestHostKeys checks that a host gets every line that may be about it or its
// bastion, and none that is about other hosts alone.
func TestHostKeys(t *testing.T) {
	for line, want := range map[string][]string{
		"gpu1 " + key:                     {"gpu1"},
		"10.0.0.2 " + key:                 {"gpu2"},
		"gpu1,10.0.0.1 " + key:            {"gpu1"},
		"[10.0.0.2]:2222 " + key:          {"gpu2"},
		"gpu1,gpu3 " + key:                {"gpu1", "gpu3"},
		"bastion.example.org " + key:      {"gpu1", "gpu2", "gpu3"},
		"gpu* " + key:                     {"gpu1", "gpu2", "gpu3"},
		"|1|aGFzaA==|aGFzaA== " + key:     {"gpu1", "gpu2", "gpu3"},
		"@cert-authority gpu1 " + key:     {"gpu1", "gpu2", "gpu3"},
		"gpu2,bastion.example.org " + key: {"gpu1", "gpu2", "gpu3"},
	} {
		var got []string
		connections := FromInventory(inventory(config.SSH{HostKeys: []string{line}}))
		for _, name := range connections.Names() {
			if len(connections[name].HostKeys.(pulumi.StringArray)) > 0 {
				got = append(got, name)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q goes to %v, want %v", line, got, want)
		}
	}
}

func TestFromInventory(t *testing.T) {
	all := FromInventory(inventory(config.SSH{User: "deploy", Port: 2222, Bastion: "b.example.org", TrustOnFirstUse: true}))
	if got := all.Names(); !slices.Equal(got, []string{"gpu1", "gpu2", "gpu3"}) {
		t.Fatalf("connections to %v", got)
	}
	for name, address := range map[string]string{"gpu1": "10.0.0.1", "gpu2": "10.0.0.2", "gpu3": "<nil>"} {
		c := all[name]
		if c.Name != name || fmt.Sprint(c.Address) != address || c.User != "deploy" || c.Port != 2222 || c.Bastion != "b.example.org" || !c.TrustOnFirstUse || c.PrivateKey != nil {
			t.Errorf("%s is reached by %+v", name, c)
		}
	}
	with := FromInventory(inventory(config.SSH{PrivateKey: config.Secret{Set: true, Value: "k"}}))
	if with["gpu1"].PrivateKey == nil {
		t.Error("the private key is not used")
	}
}
