// Package leaderworkerset installs LeaderWorkerSet in a Kubernetes cluster: groups of
// pods that serve together, as a model on several hosts. Where the environment has
// queues, each group waits for all its pods together.
//
// The usual path is [NewLeaderWorkerSet] with the kubeconfig of a cluster.
package leaderworkerset

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kindresource"
)

// LeaderWorkerSet is LeaderWorkerSet in a cluster.
type LeaderWorkerSet struct {
	pulumi.ResourceState
}

// LeaderWorkerSetArgs says where LeaderWorkerSet is installed. The environment is plain.
type LeaderWorkerSetArgs struct {
	// Environment with a kubernetes section and leaderWorkerSet. It is judged by
	// [config.Check], and need say nothing of how hosts are reached.
	Environment *config.Environment
	// Kubeconfig is an administrator's. It is kept secret.
	Kubeconfig pulumi.StringInput
	// Provider reaches the same cluster. When it is deleted too, nothing here is
	// deleted by itself, so that no API has to answer.
	Provider pulumi.ProviderResource
	// Charts is a place that has LeaderWorkerSet's chart, of release 0.8.0: a registry
	// (oci://), or a URL or folder with the file lws-0.8.0.tgz. A folder is
	// relative to the program's. Default, also for "": where its makers have it.
	Charts pulumi.StringInput
	// Heal says what needs repair. Default: nothing.
	Heal *heal.Assessment
}

// NewLeaderWorkerSet defines LeaderWorkerSet's kinds, installs its chart, and waits until it admits
// objects. The definitions stay when it is deleted, and with them all objects.
func NewLeaderWorkerSet(ctx *pulumi.Context, name string, args *LeaderWorkerSetArgs, opts ...pulumi.ResourceOption) (*LeaderWorkerSet, error) {
	if args == nil || args.Environment == nil || args.Environment.Kubernetes == nil {
		return nil, errors.New("LeaderWorkerSet needs an environment with a kubernetes section")
	}
	if err := config.Check(args.Environment, config.PartScheduler); err != nil {
		return nil, err
	}
	if !args.Environment.Kubernetes.LeaderWorkerSet {
		return nil, errors.New("the environment has no LeaderWorkerSet: write kubernetes.leaderWorkerSet: true")
	}
	if args.Kubeconfig == nil || args.Provider == nil {
		return nil, errors.New("LeaderWorkerSet needs a kubeconfig, and a provider that reaches the same cluster")
	}
	made := &LeaderWorkerSet{}
	if err := ctx.RegisterComponentResource("gpucluster:leaderworkerset:LeaderWorkerSet", name, made, opts...); err != nil {
		return nil, err
	}
	if err := kindresource.Install(ctx, made, name, kindresource.Args{
		Kind: jobkind.LeaderWorkerSet, ControlPlanes: len(args.Environment.KubernetesCluster().ControlPlanes),
		Kubeconfig: args.Kubeconfig, Provider: args.Provider, Charts: args.Charts, Heal: args.Heal,
	}); err != nil {
		return nil, err
	}
	return made, ctx.RegisterResourceOutputs(made, pulumi.Map{})
}
