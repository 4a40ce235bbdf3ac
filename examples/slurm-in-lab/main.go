// Command slurm-in-lab builds a small Slurm cluster in containers on this
// machine. It says in Go what an environment file says in YAML, and takes no
// configuration.
package main

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/lab"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

func main() { pulumi.Run(build) }

// environment is a controller that also keeps the accounting records, and two
// hosts with eight simulated GPUs each.
func environment() *config.Environment {
	return &config.Environment{
		Name:      "example",
		Scheduler: config.SchedulerSlurm,
		Lab:       &config.Lab{},
		Profiles: map[string]config.Profile{
			"small": {Sockets: 1, CoresPerSocket: 2, Memory: 4 * config.GiB},
			"h100x8": {
				Sockets: 2, CoresPerSocket: 48, ThreadsPerCore: 2, Memory: 2 * config.TiB,
				GPUs: []config.GPU{{Type: "h100", Count: 8}},
			},
		},
		Hosts: []config.HostGroup{
			{Names: "ctl1", Profile: "small", Roles: []config.Role{config.RoleController, config.RoleDatabase}},
			{Names: "gpu[1-2]", Profile: "h100x8", Roles: []config.Role{config.RoleCompute}},
		},
		Slurm: &config.Slurm{
			Version:    "24.11",
			Partitions: []config.Partition{{Name: "train", Hosts: "gpu[1-2]", Default: true, MaxTime: "1-00:00:00"}},
		},
	}
}

// build declares the cluster. Each component waits for what it needs from the
// one before it.
func build(ctx *pulumi.Context) error {
	env := environment()
	// What the last run left, and what of it needs repair.
	assessment, err := heal.Assess(ctx)
	if err != nil {
		return err
	}
	// What cannot change is refused before a container is made anew for it.
	if err := slurm.CheckChange(env.Name, env, assessment); err != nil {
		return err
	}
	containers, err := lab.NewLab(ctx, env.Name, &lab.LabArgs{Environment: env, Heal: assessment})
	if err != nil {
		return err
	}
	machines, err := hosts.NewHosts(ctx, env.Name, &hosts.HostsArgs{
		Environment: env, Connections: containers.Connections, Heal: assessment,
	})
	if err != nil {
		return err
	}
	cluster, err := slurm.NewCluster(ctx, env.Name, &slurm.ClusterArgs{
		Environment: env, Hosts: machines, Heal: assessment,
	})
	if err != nil {
		return err
	}
	ctx.Export("subnet", containers.Subnet)
	ctx.Export("controller", containers.Connections["ctl1"].Address)
	ctx.Export("slurmConf", cluster.Files.MapIndex(pulumi.String("slurm.conf")))
	// What gpucluster status and gpucluster ssh read, the smoke job's end among it.
	for name, value := range cluster.Outputs() {
		ctx.Export(name, value)
	}
	return nil
}
