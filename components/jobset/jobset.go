// Package jobset installs JobSet in a Kubernetes cluster: jobs of several kinds of
// pods, as training with a leader and workers. Where the environment has queues, a
// JobSet waits for all its pods together.
//
// The usual path is [NewJobSet] with the kubeconfig of a cluster.
package jobset

import (
	"encoding/json"
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
	"github.com/gpucluster/pulumi-gpucluster/internal/jobset"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
)

const (
	// releaseLimit is how long JobSet may take until it runs, in seconds: its image
	// is pulled within it.
	releaseLimit = 600
	// readyLimit is how long its webhooks may take after that.
	readyLimit = "3m"
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
// objects. The definitions stay when it is deleted, and with them all JobSets.
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
	values := jobset.Values(len(args.Environment.KubernetesCluster().ControlPlanes))
	probe, err := json.Marshal(jobset.Probe())
	if err != nil {
		return nil, err
	}
	installation, err := kuberesource.Installation(jobset.ChartVersion, values)
	if err != nil {
		return nil, err
	}
	made := &JobSet{}
	if err := ctx.RegisterComponentResource("gpucluster:jobset:JobSet", name, made, opts...); err != nil {
		return nil, err
	}
	ready := name + "-ready"
	repairs := args.Heal.Count(ready)
	secrets := map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: args.Kubeconfig}
	place := place(args.Charts)
	defined, err := stepresource.New(ctx, name+"-definitions", stepresource.Args{
		Step: operatorstep.Definitions, Secrets: secrets, Heal: repairs,
		Spec:  operatorstep.DefinitionsSpec{Chart: helmchart.Source{Name: jobset.ReleaseName, Version: jobset.ChartVersion}},
		Later: map[string]pulumi.StringInput{operatorstep.EnvCharts: place},
	}, pulumi.Parent(made))
	if err != nil {
		return nil, err
	}
	release, err := kuberesource.NewRelease(ctx, name+"-release", kuberesource.Release{
		Chart:   kuberesource.Chart(place, pulumi.String(jobset.MakersCharts), jobset.ReleaseName, jobset.ChartVersion),
		Version: jobset.ChartVersion, Name: jobset.ReleaseName, Namespace: jobset.Namespace,
		Values: values, Limit: releaseLimit, Repairs: repairs, SkipCRDs: true,
	}, pulumi.Parent(made), pulumi.Provider(args.Provider), pulumi.DeletedWith(args.Provider), pulumi.DependsOn([]pulumi.Resource{defined}))
	if err != nil {
		return nil, err
	}
	if _, err := stepresource.New(ctx, ready, stepresource.Args{
		Step: operatorstep.Ready, Secrets: secrets, Heal: repairs,
		Spec: operatorstep.ReadySpec{
			Admitted: []operatorstep.Attempt{{Path: jobset.Path, Object: probe}}, Limit: readyLimit,
			Release: installation, Namespaces: []string{jobset.Namespace},
		},
	}, pulumi.Parent(made), pulumi.DependsOn([]pulumi.Resource{release})); err != nil {
		return nil, err
	}
	return made, ctx.RegisterResourceOutputs(made, pulumi.Map{})
}

// place is where the chart is, the makers' own registry included.
func place(charts pulumi.StringInput) pulumi.StringOutput {
	return kuberesource.Place(charts).ToStringOutput().ApplyT(func(known string) string {
		if known == "" {
			return jobset.MakersCharts
		}
		return known
	}).(pulumi.StringOutput)
}
