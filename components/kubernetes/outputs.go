package kubernetes

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
)

// Outputs are what a stack has to export for "gpucluster status" and
// "gpucluster ssh" to find the cluster; other programs may read them too:
//
//   - name: the environment's, and scheduler: "kubernetes"
//   - controllers: the control planes by name, the first one first
//   - targets: how each host is reached, as JSON: a list of objects with name,
//     address, port, user, hostKeys, bastion and trustOnFirstUse
//   - sshPrivateKey: the key that logs in, secret; absent where the SSH agent
//     or the deployer's default keys are used
//   - kubeconfig: the administrator's, secret
//   - ledger and smoke: as the fields of the cluster
//
// A stack with several clusters can export those of one.
func (c *Cluster) Outputs() pulumi.Map {
	var all []connection.Connection
	for _, host := range c.connections.Names() {
		all = append(all, c.connections[host])
	}
	outputs := pulumi.Map{
		"name":        pulumi.String(c.env.Name),
		"scheduler":   pulumi.String(string(c.env.Scheduler)),
		"controllers": pulumi.ToStringArray(c.controlPlanes()),
		"targets":     stepresource.Targets(all),
		"kubeconfig":  c.Kubeconfig,
		"ledger":      c.Ledger,
		"smoke":       c.Smoke,
	}
	if key := stepresource.PrivateKey(all); key != nil {
		outputs["sshPrivateKey"] = key
	}
	return outputs
}
