package connection

import (
	"crypto/ed25519"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"golang.org/x/crypto/ssh"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOB8rhzRjfg7KZXwrWjy41s5NE+DWpnTDOh3XD+Z0mSX"

func inventory(ssh config.SSH) *config.Environment {
	env := &config.Environment{
		Name:      "e",
		Profiles:  map[string]config.Profile{"p": {Sockets: 1, CoresPerSocket: 2, Memory: 4 * config.GiB}},
		Hosts:     []config.HostGroup{{Names: "gpu[1-3]", Profile: "p", Roles: []config.Role{config.RoleCompute}}},
		Inventory: &config.Inventory{Addresses: map[string]string{"gpu[1-2]": "10.0.0.[1-2]"}, SSH: ssh},
	}
	return env
}

func fromInventory(t *testing.T, ssh config.SSH) Connections {
	t.Helper()
	connections, err := FromInventory(inventory(ssh))
	if err != nil {
		t.Fatal(err)
	}
	return connections
}

// TestNoInventory checks that an environment that does not say how its hosts
// are reached is refused with what is missing.
func TestNoInventory(t *testing.T) {
	open := inventory(config.SSH{})
	for want, env := range map[string]*config.Environment{
		"need an environment with an inventory section":                  nil,
		"need an environment with an inventory section ":                 {Name: "e", Lab: &config.Lab{}},
		"no host key for gpu[1-3]: connections would be refused\n  hint": open,
	} {
		if _, err := FromInventory(env); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
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
		connections := fromInventory(t, config.SSH{HostKeys: []string{line}, TrustOnFirstUse: true})
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
	all := fromInventory(t, config.SSH{User: "deploy", Port: 2222, Bastion: "b.example.org", TrustOnFirstUse: true})
	if got := all.Names(); !slices.Equal(got, []string{"gpu1", "gpu2", "gpu3"}) {
		t.Fatalf("connections to %v", got)
	}
	for name, address := range map[string]string{"gpu1": "10.0.0.1", "gpu2": "10.0.0.2", "gpu3": "<nil>"} {
		c := all[name]
		if c.Name != name || fmt.Sprint(c.Address) != address || c.User != "deploy" || c.Port != 2222 || c.Bastion != "b.example.org" || !c.TrustOnFirstUse || c.PrivateKey != nil {
			t.Errorf("%s is reached by %+v", name, c)
		}
	}
	with := fromInventory(t, config.SSH{TrustOnFirstUse: true, PrivateKey: config.Secret{Set: true, Value: privateKey(t)}})
	if with["gpu1"].PrivateKey == nil {
		t.Error("the private key is not used")
	}
}

func privateKey(t *testing.T) string {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}
