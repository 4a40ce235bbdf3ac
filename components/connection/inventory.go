package connection

import (
	"errors"
	"net"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

// FromInventory makes the connections to hosts that exist already. The
// environment has an inventory with a key for each host, and is judged by
// [config.Check].
func FromInventory(env *config.Environment) (Connections, error) {
	if env == nil || env.Inventory == nil {
		return nil, errors.New("connections from an inventory need an environment with an inventory section")
	}
	if err := config.Check(env, config.PartReach); err != nil {
		return nil, err
	}
	ssh := env.Inventory.SSH
	connections := Connections{}
	all := env.AllHosts()
	others := map[string]bool{}
	for _, host := range all {
		others[host.Name] = true
		others[host.Address] = true
	}
	jump := bastionOf(ssh, all)
	for _, host := range all {
		c := Connection{
			Name: host.Name, Port: ssh.Port, User: ssh.User,
			HostKeys: pulumi.ToStringArray(keysFor(host, ssh.HostKeys, others)), TrustOnFirstUse: ssh.TrustOnFirstUse,
		}
		if !jump.is(host) {
			c.Bastion = jump.place
			c.HostKeys = pulumi.ToStringArray(append(keysFor(host, ssh.HostKeys, others), jump.keys(ssh.HostKeys)...))
		}
		if host.Address != "" {
			c.Address = pulumi.String(host.Address)
		}
		if ssh.PrivateKey.Set {
			c.PrivateKey = pulumi.ToSecret(pulumi.String(ssh.PrivateKey.Value)).(pulumi.StringOutput)
		}
		connections[host.Name] = c
	}
	return connections, nil
}

// keysFor leaves out the lines that are about other hosts of the environment
// alone, so that a host more, or the new key of one, is no change to the rest.
// What cannot be told apart (patterns, hashed names, bare keys) stays.
func keysFor(host config.Host, lines []string, others map[string]bool) []string {
	kept := []string{}
	for _, line := range lines {
		fields := strings.Fields(line)
		if len(fields) < 3 || strings.HasPrefix(line, "@") || !onlyOthers(host, strings.Split(fields[0], ","), others) {
			kept = append(kept, line)
		}
	}
	return kept
}

func onlyOthers(host config.Host, names []string, others map[string]bool) bool {
	for _, name := range names {
		if h, _, err := net.SplitHostPort(name); err == nil {
			name = h
		}
		if name == host.Name || name == host.Address || !others[name] {
			return false
		}
	}
	return true
}
