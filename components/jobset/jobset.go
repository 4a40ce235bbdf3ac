// Package jobset installs JobSet in a Kubernetes cluster: jobs of several kinds of
// pods, as training with a leader and workers. Where the environment has queues, a
// JobSet waits for all its pods together.
//
// The usual path is [NewJobSet] with the kubeconfig of a cluster.
package jobset

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kindresource"
)

// JobSet is JobSet in a cluster.
type JobSet struct {
	pulumi.ResourceState
}

// JobSetArgs says where JobSet is installed. The environment is plain.
type JobSetArgs struct {
	// Environment with a kubernetes section and jobSet. It is judged by
	// [config.Check], and need say nothing of how hosts are reached.
	Environment *config.Environment
	// Kubeconfig is an administrator's. It is kept secret.
	Kubeconfig pulumi.StringInput
	// Provider reaches the same cluster. When it is deleted too, nothing here is
	// deleted by itself, so that no API has to answer.
	Provider pulumi.ProviderResource
	// Charts is a place that has JobSet's chart, of release 0.11.1: a registry
	// (oci://), or a URL or folder with the file jobset-0.11.1.tgz. A folder is
	// relative to the program's. Default, also for "": where its makers have it.
	Charts pulumi.StringInput
	// Heal says what needs repair. Default: nothing.
	Heal *heal.Assessment
}

// NewJobSet defines JobSet's kinds, installs its chart, and waits until it admits
// objects. The definitions stay when it is deleted, and with them all objects.
func NewJobSet(ctx *pulumi.Context, name string, args *JobSetArgs, opts ...pulumi.ResourceOption) (*JobSet, error) {
	if args == nil || args.Environment == nil || args.Environment.Kubernetes == nil {
		return nil, errors.New("JobSet needs an environment with a kubernetes section")
	}
	if err := config.Check(args.Environment, config.PartScheduler); err != nil {
		return nil, err
	}
	if !args.Environment.Kubernetes.JobSet {
		return nil, errors.New("the environment has no JobSet: write kubernetes.jobSet: true")
	}
	if args.Kubeconfig == nil || args.Provider == nil {
		return nil, errors.New("JobSet needs a kubeconfig, and a provider that reaches the same cluster")
	}
	made := &JobSet{}
	if err := ctx.RegisterComponentResource("gpucluster:jobset:JobSet", name, made, opts...); err != nil {
		return nil, err
	}
	if err := kindresource.Install(ctx, made, name, kindresource.Args{
		Kind: jobkind.JobSet, ControlPlanes: len(args.Environment.KubernetesCluster().ControlPlanes),
		Kubeconfig: args.Kubeconfig, Provider: args.Provider, Charts: args.Charts, Heal: args.Heal,
	}); err != nil {
		return nil, err
	}
	return made, ctx.RegisterResourceOutputs(made, pulumi.Map{})
}
