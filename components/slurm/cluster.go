// Package slurm builds a Slurm cluster on prepared hosts: keys, accounting,
// controllers, login hosts, one membership a compute host, accounts and a job
// that proves the whole.
//
// The usual path is [NewCluster] on the [hosts.Hosts] of an environment.
package slurm

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// Cluster is a Slurm cluster.
type Cluster struct {
	pulumi.ResourceState

	// Ledger says which scheduler owns each host, as a list of host, owner and
	// GPUs by type.
	Ledger pulumi.ArrayOutput
	// Smoke is how the last smoke job ended, as JSON.
	Smoke pulumi.StringOutput
	// Files are the rendered configuration files, by name.
	Files pulumi.StringMapOutput

	env         *config.Environment
	connections connection.Connections
}

// ClusterArgs says what the cluster is. All fields but the connections of
// Hosts are plain: they decide which resources exist.
type ClusterArgs struct {
	// Environment with a slurm section. It is judged by [config.Check], and need
	// say nothing of how hosts are reached.
	Environment *config.Environment
	// Hosts are all hosts of the environment, prepared. Each part of the cluster
	// waits for the hosts that it needs, so no DependsOn is needed.
	Hosts *hosts.Hosts
	// Heal says what needs repair and what the last update left, from which
	// the impact of a change is told. Default: nothing.
	Heal *heal.Assessment
}

// builder is a cluster while it is being declared.
type builder struct {
	*Cluster
	ctx   *pulumi.Context
	name  string
	env   *config.Environment
	hosts *hosts.Hosts
	heal  *heal.Assessment
	files slurmconf.FileSet

	munge      pulumi.StringOutput
	password   pulumi.StringOutput
	controller *local.Command
	outcomes   []pulumi.StringOutput
	last       []pulumi.Resource
}

// NewCluster declares the cluster. A membership's URN does not contain the
// scheduler, so that a host can move to another one by an update; it is
// therefore no child of the cluster.
func NewCluster(ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if args == nil || args.Environment == nil || args.Environment.Slurm == nil {
		return nil, errors.New("a cluster needs an environment with a slurm section")
	}
	if err := config.Check(args.Environment, config.PartScheduler); err != nil {
		return nil, err
	}
	if args.Hosts == nil {
		return nil, errors.New("a cluster needs prepared hosts: call hosts.NewHosts first")
	}
	for _, host := range args.Environment.AllHosts() {
		if len(args.Hosts.Ready(host.Name)) == 0 {
			return nil, fmt.Errorf("the hosts given do not include %s", host.Name)
		}
	}
	files, err := slurmconf.Render(args.Environment.SlurmCluster())
	if err != nil {
		return nil, fmt.Errorf("rendering the configuration: %w", err)
	}
	b := &builder{
		Cluster: &Cluster{env: args.Environment, connections: args.Hosts.Connections},
		ctx:     ctx, name: name, env: args.Environment, hosts: args.Hosts, heal: args.Heal, files: files,
	}
	if err := b.explain(); err != nil {
		return nil, err
	}
	if err := ctx.RegisterComponentResource("gpucluster:slurm:Cluster", name, b.Cluster, opts...); err != nil {
		return nil, err
	}
	for _, declare := range []func() error{
		b.declareKeys, b.declareDatabase, b.declareController, b.declareLogins, b.declareMembers, b.declareGuard,
		b.declareAccounting, b.declareSmoke, b.declareGate,
	} {
		if err := declare(); err != nil {
			return nil, err
		}
	}
	b.Ledger = hosts.Ledger(b.env.HostsWithRole(config.RoleCompute), config.SchedulerSlurm)
	b.Files = pulumi.ToStringMap(files.Map()).ToStringMapOutput()
	return b.Cluster, ctx.RegisterResourceOutputs(b.Cluster, pulumi.Map{
		"ledger": b.Ledger, "smoke": b.Smoke, "files": b.Files,
	})
}

// connections of hosts, in that order.
func (b *builder) connections(all ...string) []connection.Connection {
	out := make([]connection.Connection, len(all))
	for i, host := range all {
		out[i] = b.hosts.Connections[host]
	}
	return out
}

// controllers by name, the primary first.
func (b *builder) controllers() []string {
	return hostNames(b.env.HostsWithRole(config.RoleController))
}

func hostNames(all []config.Host) []string {
	names := make([]string, len(all))
	for i, host := range all {
		names[i] = host.Name
	}
	return names
}

// ready collects what has to be done on hosts first.
func (b *builder) ready(all ...string) []pulumi.Resource {
	var resources []pulumi.Resource
	for _, host := range all {
		resources = append(resources, b.hosts.Ready(host)...)
	}
	return resources
}
