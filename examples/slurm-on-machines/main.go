// Command slurm-on-machines builds a Slurm cluster on machines that another
// stack has made, on a cloud for example. Their names, counts and hardware are
// said here; their addresses and keys are outputs of that stack.
package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/slurm"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

func main() { pulumi.Run(build) }

// environment says what the machines are, and what the cluster is. How they are
// reached is not part of it, except that they know each other by /etc/hosts.
func environment() *config.Environment {
	return &config.Environment{
		Name:      "machines",
		Scheduler: config.SchedulerSlurm,
		Inventory: &config.Inventory{DNS: config.DNSHosts},
		Profiles: map[string]config.Profile{
			"small": {Sockets: 1, CoresPerSocket: 4, ThreadsPerCore: 2, Memory: 32 * config.GiB},
			"h100x8": {
				Sockets: 2, CoresPerSocket: 48, ThreadsPerCore: 2, Memory: 2 * config.TiB,
				GPUs: []config.GPU{{Type: "h100", Count: 8}},
			},
		},
		Hosts: []config.HostGroup{
			{Names: "ctl1", Profile: "small", Roles: []config.Role{config.RoleController, config.RoleDatabase, config.RoleLogin}},
			{Names: "gpu[1-2]", Profile: "h100x8", Roles: []config.Role{config.RoleCompute}},
		},
		Slurm: &config.Slurm{
			Version:    "24.11",
			Partitions: []config.Partition{{Name: "train", Hosts: "gpu[1-2]", Default: true, MaxTime: "1-00:00:00"}},
		},
	}
}

// reach makes the connections from the other stack's outputs: "machines", an
// object with id, address and hostKey of each machine by name, and the secret
// "privateKey". The machines reach each other at the same addresses.
func reach(ctx *pulumi.Context, env *config.Environment, stack string) (connection.Connections, error) {
	made, err := pulumi.NewStackReference(ctx, stack, nil)
	if err != nil {
		return nil, err
	}
	part := func(host, field string) pulumi.StringOutput {
		return made.GetOutput(pulumi.String("machines")).ApplyT(func(value any) (string, error) {
			machines, _ := value.(map[string]any)
			machine, _ := machines[host].(map[string]any)
			text, ok := machine[field].(string)
			if !ok {
				return "", fmt.Errorf("stack %s has no output machines.%s.%s", stack, host, field)
			}
			return text, nil
		}).(pulumi.StringOutput)
	}
	connections := connection.Connections{}
	for _, host := range env.AllHosts() {
		connections[host.Name] = connection.Connection{
			Name:       host.Name,
			Address:    part(host.Name, "address"),
			User:       "debian",
			HostKeys:   pulumi.StringArray{part(host.Name, "hostKey")},
			PrivateKey: made.GetStringOutput(pulumi.String("privateKey")),
			// A machine that was made anew has lost everything.
			Instance: part(host.Name, "id"),
		}
	}
	return connections, nil
}

// build declares the cluster.
func build(ctx *pulumi.Context) error {
	stack, ok := ctx.GetConfig("slurm-on-machines:machines")
	if !ok {
		return fmt.Errorf("slurm-on-machines:machines of the stack's configuration has to name the stack that makes the machines")
	}
	env := environment()
	connections, err := reach(ctx, env, stack)
	if err != nil {
		return err
	}
	assessment, err := heal.Assess(ctx)
	if err != nil {
		return err
	}
	machines, err := hosts.NewHosts(ctx, env.Name, &hosts.HostsArgs{
		Environment: env, Connections: connections, Heal: assessment,
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
	// What gpucluster status and gpucluster ssh read.
	for name, value := range cluster.Outputs() {
		ctx.Export(name, value)
	}
	return nil
}
