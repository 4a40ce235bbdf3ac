package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
)

// export names what other programs, and the gpucluster command, read.
func export(ctx *pulumi.Context, env *config.Environment, connections connection.Connections, cluster *slurm.Cluster) error {
	var all []connection.Connection
	for _, name := range connections.Names() {
		all = append(all, connections[name])
	}
	ctx.Export("scheduler", pulumi.String(string(env.Scheduler)))
	ctx.Export("targets", stepresource.Targets(all))
	if key := all[0].PrivateKey; key != nil {
		ctx.Export("sshPrivateKey", pulumi.ToSecret(key))
	}
	ctx.Export("name", pulumi.String(env.Name))
	ctx.Export("controllers", names(env, config.RoleController))
	ctx.Export("logins", names(env, config.RoleLogin))
	ctx.Export("ledger", cluster.Ledger)
	ctx.Export("smoke", cluster.Smoke)
	return nil
}

// names of the hosts that play a role.
func names(env *config.Environment, role config.Role) pulumi.StringArray {
	all := pulumi.StringArray{}
	for _, host := range env.HostsWithRole(role) {
		all = append(all, pulumi.String(host.Name))
	}
	return all
}
