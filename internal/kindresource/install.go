// Package kindresource registers what brings a further kind of jobs to a cluster:
// its definitions, which Helm would never renew, its chart, and a wait until its
// webhooks admit an object.
package kindresource

import (
	"encoding/json"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
)

const (
	// releaseLimit is how long a controller may take until it runs, in seconds: its
	// image is pulled within it.
	releaseLimit = 600
	// readyLimit is how long its webhooks may take after that.
	readyLimit = "3m"
)

// Args says what is installed, and where.
type Args struct {
	// Kind of jobs, and how many control planes the cluster has.
	Kind          jobkind.Kind
	ControlPlanes int
	// Kubeconfig is an administrator's, a secret; Provider reaches the same cluster.
	Kubeconfig pulumi.StringInput
	Provider   pulumi.ProviderResource
	// Charts is where the site has charts. Nothing and "": where the makers have it.
	Charts pulumi.StringInput
	// Heal says what needs repair. Default: nothing.
	Heal *heal.Assessment
}

// Install registers it all as children of a component with that name. The
// definitions stay when it is deleted.
func Install(ctx *pulumi.Context, parent pulumi.Resource, name string, args Args) error {
	kind := args.Kind
	values := kind.Values(args.ControlPlanes)
	probe, err := json.Marshal(kind.Probe())
	if err != nil {
		return err
	}
	installation, err := kuberesource.Installation(kind.Version, values)
	if err != nil {
		return err
	}
	ready := name + "-ready"
	repairs := args.Heal.Count(ready)
	secrets := map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: args.Kubeconfig}
	place := place(args.Charts, kind.MakersCharts)
	defined, err := stepresource.New(ctx, name+"-definitions", stepresource.Args{
		Step: operatorstep.Definitions, Secrets: secrets, Heal: repairs,
		Spec:  operatorstep.DefinitionsSpec{Chart: helmchart.Source{Name: kind.Chart, Version: kind.Version}},
		Later: map[string]pulumi.StringInput{operatorstep.EnvCharts: place},
	}, pulumi.Parent(parent))
	if err != nil {
		return err
	}
	release, err := kuberesource.NewRelease(ctx, name+"-release", kuberesource.Release{
		Chart:   kuberesource.Chart(place, pulumi.String(kind.MakersCharts), kind.Chart, kind.Version),
		Version: kind.Version, Name: kind.Chart, Namespace: kind.Namespace,
		Values: values, Limit: releaseLimit, Repairs: repairs, SkipCRDs: true,
		Record: &kuberesource.Record{Parent: parent, Kubeconfig: args.Kubeconfig, Heal: args.Heal},
	}, pulumi.Parent(parent), pulumi.Provider(args.Provider), pulumi.DeletedWith(args.Provider), pulumi.DependsOn([]pulumi.Resource{defined}))
	if err != nil {
		return err
	}
	_, err = stepresource.New(ctx, ready, stepresource.Args{
		Step: operatorstep.Ready, Secrets: secrets, Heal: repairs,
		Spec: operatorstep.ReadySpec{
			Admitted: []operatorstep.Attempt{{Path: kind.Path, Object: probe}}, Limit: readyLimit,
			Release: installation, Namespaces: []string{kind.Namespace},
		},
	}, pulumi.Parent(parent), pulumi.DependsOn([]pulumi.Resource{release}))
	return err
}

// place is where the chart is, the makers' own registry included.
func place(charts pulumi.StringInput, makers string) pulumi.StringOutput {
	return kuberesource.Place(charts).ToStringOutput().ApplyT(func(known string) string {
		if known == "" {
			return makers
		}
		return known
	}).(pulumi.StringOutput)
}
