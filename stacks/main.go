// Command stacks is the Pulumi program of an environment: it reads the
// environment's file, and builds what the file says from the components.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/lab"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

func main() { pulumi.Run(build) }

// build declares every resource of the environment.
func build(ctx *pulumi.Context) error {
	env, err := load(ctx)
	if err != nil {
		return err
	}
	if env.Slurm == nil {
		return fmt.Errorf("the scheduler %s can be described and checked, but this release does not build it", env.Scheduler)
	}
	assessment, err := heal.Assess(ctx)
	if err != nil {
		return err
	}
	if err := slurm.CheckChange(env.Name, env, assessment); err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	connections, err := connect(ctx, env, assessment)
	if err != nil {
		return err
	}
	machines, err := hosts.NewHosts(ctx, env.Name, &hosts.HostsArgs{
		Environment: env, Connections: connections, Heal: assessment,
	})
	if err != nil {
		return fmt.Errorf("hosts: %w", err)
	}
	cluster, err := slurm.NewCluster(ctx, env.Name, &slurm.ClusterArgs{
		Environment: env, Hosts: machines, Heal: assessment,
	})
	if err != nil {
		return fmt.Errorf("slurm: %w", err)
	}
	for name, value := range cluster.Outputs() {
		ctx.Export(name, value)
	}
	return nil
}

// connect makes the hosts, or finds those that exist.
func connect(ctx *pulumi.Context, env *config.Environment, assessment *heal.Assessment) (connection.Connections, error) {
	if env.Lab == nil {
		return connection.FromInventory(env)
	}
	made, err := lab.NewLab(ctx, env.Name, &lab.LabArgs{Environment: env, Heal: assessment})
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}
	return made.Connections, nil
}
