// Command stacks is the Pulumi program of an environment: it reads the
// environment's file, and builds what the file says from the components.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/kubernetes"
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
	assessment, err := heal.Assess(ctx)
	if err != nil {
		return err
	}
	scheduler, ok := schedulers[env.Scheduler]
	if !ok {
		return fmt.Errorf("the scheduler %s can be described and checked, but this release does not build it", env.Scheduler)
	}
	if err := scheduler.checkChange(env.Name, env, assessment); err != nil {
		return fmt.Errorf("%s: %w", env.Scheduler, err)
	}
	reached, err := connect(ctx, env, assessment)
	if err != nil {
		return err
	}
	machines, err := hosts.NewHosts(ctx, env.Name, &hosts.HostsArgs{
		Environment: env, Connections: reached.connections, Heal: assessment,
	})
	if err != nil {
		return fmt.Errorf("hosts: %w", err)
	}
	outputs, err := scheduler.build(ctx, env, machines, reached, assessment)
	if err != nil {
		return fmt.Errorf("%s: %w", env.Scheduler, err)
	}
	for name, value := range outputs {
		ctx.Export(name, value)
	}
	return nil
}

// scheduler is how a cluster of one kind is judged and built.
type scheduler struct {
	checkChange func(name string, env *config.Environment, assessment *heal.Assessment) error
	build       func(*pulumi.Context, *config.Environment, *hosts.Hosts, reach, *heal.Assessment) (pulumi.Map, error)
}

var schedulers = map[config.Scheduler]scheduler{
	config.SchedulerSlurm:      {slurm.CheckChange, buildSlurm},
	config.SchedulerKubernetes: {kubernetes.CheckChange, buildKubernetes},
}

func buildSlurm(ctx *pulumi.Context, env *config.Environment, machines *hosts.Hosts, _ reach, assessment *heal.Assessment) (pulumi.Map, error) {
	cluster, err := slurm.NewCluster(ctx, env.Name, &slurm.ClusterArgs{Environment: env, Hosts: machines, Heal: assessment})
	if err != nil {
		return nil, err
	}
	return cluster.Outputs(), nil
}
