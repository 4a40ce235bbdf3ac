// Package kubernetes builds a Kubernetes cluster on prepared hosts: control
// planes with etcd, one membership a worker, and pods that prove the whole.
//
// The usual path is [NewCluster] on the [hosts.Hosts] of an environment.
package kubernetes

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	api "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
)

// Cluster is a Kubernetes cluster.
type Cluster struct {
	pulumi.ResourceState

	// Ledger says which scheduler owns each host, as a list of host, owner and
	// GPUs by type.
	Ledger pulumi.ArrayOutput
	// Smoke is how the last smoke pods ended, as JSON.
	Smoke pulumi.StringOutput
	// Kubeconfig is the administrator's. It is a secret.
	Kubeconfig pulumi.StringOutput
	// Provider reaches the cluster, for objects in it. They are made with
	// pulumi.DeletedWith of it: they go with the cluster, whether or not its API
	// still answers.
	Provider *api.Provider

	name        string
	env         *config.Environment
	connections connection.Connections
	last        []pulumi.Resource
	gate        pulumi.Resource
}

// ClusterArgs says what the cluster is. All fields but the connections of
// Hosts are plain: they decide which resources exist.
type ClusterArgs struct {
	// Environment with a kubernetes section. It is judged by [config.Check], and
	// need say nothing of how hosts are reached.
	Environment *config.Environment
	// Hosts are all hosts of the environment, prepared. Each part of the cluster
	// waits for the hosts that it needs, so no DependsOn is needed.
	Hosts *hosts.Hosts
	// After is what hosts fetch from, where it is made by the same program: the
	// lab's server of images and binaries. Default: nothing.
	After []pulumi.Resource
	// First declares what has to be in the cluster before workers join, such as what
	// gives them their GPUs. It is called once, with the cluster's Kubeconfig and
	// Provider. Default: nothing.
	First func(*Cluster) ([]pulumi.Resource, error)
	// Heal says what needs repair and what the last update left. Default:
	// nothing.
	Heal *heal.Assessment
}

// builder is a cluster while it is being declared.
type builder struct {
	*Cluster
	ctx   *pulumi.Context
	model config.KubernetesCluster
	hosts *hosts.Hosts
	heal  *heal.Assessment
	after []pulumi.Resource
	files kubeconf.FileSet

	declareFirst func(*Cluster) ([]pulumi.Resource, error)
	inside       []pulumi.Resource

	planes   []*local.Command
	outcomes []pulumi.StringOutput
}

// NewCluster declares the cluster, all but its [Cluster.Guard]. A membership's URN does not contain the
// scheduler, so that a host can move to another one by an update; it is
// therefore no child of the cluster.
func NewCluster(ctx *pulumi.Context, name string, args *ClusterArgs, opts ...pulumi.ResourceOption) (*Cluster, error) {
	if args == nil || args.Environment == nil || args.Environment.Kubernetes == nil {
		return nil, errors.New("a cluster needs an environment with a kubernetes section")
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
	if err := CheckChange(name, args.Environment, args.Heal); err != nil {
		return nil, err
	}
	files, err := kubeconf.Render(args.Environment.KubernetesFiles())
	if err != nil {
		return nil, fmt.Errorf("rendering the configuration: %w", err)
	}
	b := &builder{
		Cluster: &Cluster{name: name, env: args.Environment, connections: args.Hosts.Connections},
		ctx:     ctx, model: args.Environment.KubernetesCluster(), hosts: args.Hosts, heal: args.Heal,
		after: args.After, files: files, declareFirst: args.First,
	}
	if err := ctx.RegisterComponentResource("gpucluster:kubernetes:Cluster", name, b.Cluster, opts...); err != nil {
		return nil, err
	}
	for _, declare := range []func() error{
		b.explainUpgrade, b.declareControlPlanes, b.declareKubeconfig, b.declareInside, b.declareMembers, b.declareSmoke, b.declareGate,
	} {
		if err := declare(); err != nil {
			return nil, err
		}
	}
	b.Ledger = hosts.Ledger(b.env.HostsWithRole(config.RoleWorker), config.SchedulerKubernetes)
	return b.Cluster, ctx.RegisterResourceOutputs(b.Cluster, pulumi.Map{
		"ledger": b.Ledger, "smoke": b.Smoke, "kubeconfig": b.Kubeconfig,
	})
}

// reach is how hosts are reached, in that order.
func (c *Cluster) reach(all ...string) []connection.Connection {
	out := make([]connection.Connection, len(all))
	for i, host := range all {
		out[i] = c.connections[host]
	}
	return out
}

// controlPlanes by name, the first one first.
func (c *Cluster) controlPlanes() []string { return nodeNames(c.env.KubernetesCluster().ControlPlanes) }

func nodeNames(nodes []config.KubernetesNode) []string {
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Name
	}
	return names
}
