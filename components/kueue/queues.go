// Package kueue has Kueue decide in a Kubernetes cluster when jobs start, and
// makes each team of an environment a tenant of it: a namespace, rights, a queue
// with quotas, and policies that leave no way around them.
//
// The usual path is [NewQueues] with the kubeconfig of a cluster.
package kueue

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kueuestep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
	"github.com/gpucluster/pulumi-gpucluster/internal/tenant"
)

const (
	// makersCharts is where Kueue's makers have their chart.
	makersCharts = "oci://registry.k8s.io/kueue/charts"
	// releaseLimit is how long Kueue may take until it runs, in seconds: its image
	// is pulled within it.
	releaseLimit = 600
	// readyLimit is how long its webhooks may take after that.
	readyLimit = "3m"
)

// Queues are Kueue and the queues of an environment's teams.
type Queues struct {
	pulumi.ResourceState
}

// QueuesArgs says what is queued and where. The environment is plain: it decides
// which resources exist.
type QueuesArgs struct {
	// Environment with a kubernetes section and queueing kueue. It is judged by
	// [config.Check], and need say nothing of how hosts are reached.
	Environment *config.Environment
	// Kubeconfig is an administrator's. It is kept secret.
	Kubeconfig pulumi.StringInput
	// Provider reaches the same cluster. When it is deleted too, nothing here is
	// deleted by itself, so that no API has to answer.
	Provider pulumi.ProviderResource
	// Charts is a place that has Kueue's chart, of release 0.17.0: a registry
	// (oci://), or a URL or folder with the file kueue-0.17.0.tgz. A folder is
	// relative to the program's. Default, also for "": where its makers have it.
	Charts pulumi.StringInput
	// Heal says what needs repair. Default: nothing.
	Heal *heal.Assessment
}

// builder is what is being declared.
type builder struct {
	*Queues
	ctx     *pulumi.Context
	name    string
	args    *QueuesArgs
	objects *tenant.Objects
}

// NewQueues installs Kueue, waits until it admits objects, and makes the objects
// of all teams. People are let into their namespaces last.
func NewQueues(ctx *pulumi.Context, name string, args *QueuesArgs, opts ...pulumi.ResourceOption) (*Queues, error) {
	if args == nil || args.Environment == nil || args.Environment.Kubernetes == nil {
		return nil, errors.New("queues need an environment with a kubernetes section")
	}
	if err := config.Check(args.Environment, config.PartScheduler); err != nil {
		return nil, err
	}
	if args.Environment.Kubernetes.Queueing != config.QueueingKueue {
		return nil, fmt.Errorf("the environment has %q as kubernetes.queueing, not %q", args.Environment.Kubernetes.Queueing, config.QueueingKueue)
	}
	if args.Kubeconfig == nil || args.Provider == nil {
		return nil, errors.New("queues need a kubeconfig, and a provider that reaches the same cluster")
	}
	cluster := args.Environment.KubernetesQueues()
	objects, err := queues.Objects(cluster)
	if err != nil {
		return nil, err
	}
	values, err := queues.Values(cluster)
	if err != nil {
		return nil, err
	}
	b := &builder{Queues: &Queues{}, ctx: ctx, name: name, args: args}
	if err := ctx.RegisterComponentResource("gpucluster:kueue:Queues", name, b.Queues, opts...); err != nil {
		return nil, err
	}
	b.objects = &tenant.Objects{
		Context: ctx, Name: name, Parent: b.Queues, Kubeconfig: args.Kubeconfig, Provider: args.Provider, Group: "kueue.x-k8s.io/", Needs: needs,
	}
	if _, err := b.objects.LookFor(objects); err != nil {
		return nil, err
	}
	ready, err := b.declareKueue(values)
	if err != nil {
		return nil, err
	}
	if err := b.objects.Declare(objects, cluster.Teams, ready); err != nil {
		return nil, err
	}
	return b.Queues, ctx.RegisterResourceOutputs(b.Queues, pulumi.Map{})
}

// declareKueue installs the chart and returns what has to be done before Kueue's
// objects are made. The chart has its definitions among its templates, so that
// Helm renews them, and takes them away with everything of their kinds.
func (b *builder) declareKueue(values map[string]any) (pulumi.Resource, error) {
	name := b.name + "-ready"
	repairs := b.args.Heal.Count(name)
	monitors, err := b.declareMonitors(repairs)
	if err != nil {
		return nil, err
	}
	release, err := kuberesource.NewRelease(b.ctx, b.name+"-release", kuberesource.Release{
		Chart:   kuberesource.Chart(kuberesource.Place(b.args.Charts), pulumi.String(makersCharts), queues.ReleaseName, queues.ChartVersion),
		Version: queues.ChartVersion, Name: queues.ReleaseName, Namespace: queues.ManagerNamespace,
		Values: values, Limit: releaseLimit, Repairs: repairs,
		Record: &kuberesource.Record{Parent: b.Queues, Kubeconfig: b.args.Kubeconfig, Heal: b.args.Heal},
	}, b.objects.Options(monitors...)...)
	if err != nil {
		return nil, err
	}
	installation, err := kuberesource.Installation(queues.ChartVersion, values)
	if err != nil {
		return nil, err
	}
	probe, err := json.Marshal(queues.Probe())
	if err != nil {
		return nil, err
	}
	return stepresource.New(b.ctx, name, stepresource.Args{
		Step:    kueuestep.Ready,
		Spec:    kueuestep.ReadySpec{Flavor: probe, Limit: readyLimit, Release: installation},
		Secrets: map[string]pulumi.StringInput{kueuestep.SecretKubeconfig: b.args.Kubeconfig}, Heal: repairs,
	}, pulumi.Parent(b.Queues), pulumi.DependsOn([]pulumi.Resource{release}))
}

// declareMonitors looks for the definitions that Kueue's ServiceMonitor needs, where
// one is asked for: what Helm makes of the chart would fail half way.
func (b *builder) declareMonitors(repairs int) ([]pulumi.Resource, error) {
	if m := b.args.Environment.Kubernetes.Monitoring; m == nil || !m.ServiceMonitors {
		return nil, nil
	}
	monitors, err := stepresource.New(b.ctx, b.name+"-monitors", stepresource.Args{
		Step: operatorstep.Kinds, Spec: operatorstep.ServiceMonitors(), Heal: repairs,
		Secrets: map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: b.args.Kubeconfig},
	}, pulumi.Parent(b.Queues))
	return []pulumi.Resource{monitors}, err
}
