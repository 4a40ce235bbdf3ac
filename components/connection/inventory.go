package connection

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

// FromInventory makes the connections to hosts that exist already. The
// environment is valid and has an inventory.
func FromInventory(env *config.Environment) Connections {
	ssh := env.Inventory.SSH
	connections := Connections{}
	for _, host := range env.AllHosts() {
		c := Connection{
			Name: host.Name, Port: ssh.Port, User: ssh.User, Bastion: ssh.Bastion,
			HostKeys: pulumi.ToStringArray(ssh.HostKeys), TrustOnFirstUse: ssh.TrustOnFirstUse,
		}
		if host.Address != "" {
			c.Address = pulumi.String(host.Address)
		}
		if ssh.PrivateKey.Set {
			c.PrivateKey = pulumi.ToSecret(pulumi.String(ssh.PrivateKey.Value)).(pulumi.StringOutput)
		}
		connections[host.Name] = c
	}
	return connections
}
