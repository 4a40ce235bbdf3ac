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

// TestBastionOfTheInventory checks how hosts are reached through one of them.
func TestBastionOfTheInventory(t *testing.T) {
	lines := []string{"gpu1 " + key, "gpu2 " + key, "gpu3 " + key}
	for written, want := range map[string]string{
		"gpu1":             "deploy@10.0.0.1:2222",
		"10.0.0.1":         "deploy@10.0.0.1:2222",
		"root@gpu1:22":     "root@10.0.0.1:22",
		"gpu3":             "deploy@gpu3:2222",
		"gate.example.org": "gate.example.org",
		"":                 "",
	} {
		all := fromInventory(t, config.SSH{User: "deploy", Port: 2222, Bastion: written, HostKeys: lines})
		if got := all["gpu2"].Bastion; got != want {
			t.Errorf("%q: gpu2 is reached through %q, want %q", written, got, want)
		}
		for name, place := range map[string]string{"gpu1": "@10.0.0.1:", "gpu3": "@gpu3:"} {
			if c := all[name]; strings.Contains(want, place) && (c.Bastion != "" || len(c.HostKeys.(pulumi.StringArray)) != 1) {
				t.Errorf("%q: %s is reached through %q with keys %v", written, name, c.Bastion, c.HostKeys)
			}
		}
	}
	for written, want := range map[string]string{
		"gpu1": "[10.0.0.1]:2222 " + key, "root@gpu1:22": "10.0.0.1 " + key, "gpu3": "[gpu3]:2222 " + key, "gate.example.org": "",
	} {
		all := fromInventory(t, config.SSH{Port: 2222, Bastion: written, HostKeys: lines})
		var got []string
		for _, line := range all["gpu2"].HostKeys.(pulumi.StringArray) {
			got = append(got, fmt.Sprint(line))
		}
		if joined := strings.Join(got, "; "); joined != strings.TrimSuffix("gpu2 "+key+"; "+want, "; ") {
			t.Errorf("%q: gpu2 has the keys %q, want %q besides its own", written, got, want)
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
