// Package gpuoperator has NVIDIA's GPU Operator give the GPUs of a Kubernetes
// cluster's hosts to pods and, where the environment says so, its Network Operator
// give them InfiniBand or RoCE adapters.
//
// The usual path is [NewOperator] before workers join, since they are validated by
// pods on their GPUs, and [Operator.Wait] when they have.
package gpuoperator

import (
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
)

// releaseLimit is how long Helm may take to make a chart's objects, in seconds. It
// does not wait until they run, which takes workers.
const releaseLimit = 600

// Operator is the GPU Operator in a cluster.
type Operator struct {
	pulumi.ResourceState

	// Installed is what has to be there before workers join.
	Installed []pulumi.Resource

	name    string
	args    *OperatorArgs
	cluster gpuoperator.Cluster
	release string
}

// OperatorArgs says what is installed and where. The environment is plain: it
// decides which resources exist.
type OperatorArgs struct {
	// Environment with a kubernetes section and a GPU Operator. It is judged by
	// [config.Check], and need say nothing of how hosts are reached.
	Environment *config.Environment
	// Kubeconfig is an administrator's. It is kept secret.
	Kubeconfig pulumi.StringInput
	// Provider reaches the same cluster. When it is deleted too, nothing here is
	// deleted by itself, so that no API has to answer.
	Provider pulumi.ProviderResource
	// Charts is a place that has the charts gpu-operator v26.7.0 and, for adapters,
	// network-operator 26.4.1: a registry (oci://), or a URL or folder with files
	// NAME-VERSION.tgz. A folder is relative to the program's. Default, also for "":
	// where their makers have them.
	Charts pulumi.StringInput
	// Heal says what needs repair. Default: nothing.
	Heal *heal.Assessment
}

// builder is what is being declared.
type builder struct {
	*Operator
	ctx     *pulumi.Context
	repairs int
	// looked is the look at whose namespaces are.
	looked pulumi.Resource
}

// NewOperator installs the operators: first what their pods may do, then their
// definitions, then their charts.
func NewOperator(ctx *pulumi.Context, name string, args *OperatorArgs, opts ...pulumi.ResourceOption) (*Operator, error) {
	if args == nil || args.Environment == nil || args.Environment.Kubernetes == nil {
		return nil, errors.New("the GPU Operator needs an environment with a kubernetes section")
	}
	if err := config.Check(args.Environment, config.PartScheduler); err != nil {
		return nil, err
	}
	if !args.Environment.Kubernetes.InstallsGPUOperator() {
		return nil, errors.New("the environment has no GPU Operator: write kubernetes.gpuOperator")
	}
	if args.Kubeconfig == nil || args.Provider == nil {
		return nil, errors.New("the GPU Operator needs a kubeconfig, and a provider that reaches the same cluster")
	}
	cluster := args.Environment.KubernetesGPUs()
	values, err := gpuoperator.Values(cluster)
	if err != nil {
		return nil, err
	}
	network, err := gpuoperator.NetworkValues(cluster)
	if err != nil {
		return nil, err
	}
	objects, err := gpuoperator.Objects(cluster)
	if err != nil {
		return nil, err
	}
	b := &builder{Operator: &Operator{name: name, args: args, cluster: cluster}, ctx: ctx}
	b.repairs = args.Heal.Count(b.readyName())
	if b.release, err = kuberesource.Installation(gpuoperator.ChartVersion, []any{values, network, objects}); err != nil {
		return nil, err
	}
	if err := ctx.RegisterComponentResource("gpucluster:gpuoperator:Operator", name, b.Operator, opts...); err != nil {
		return nil, err
	}
	if err := b.lookForNamespaces(); err != nil {
		return nil, err
	}
	if err := b.declareGPUs(values); err != nil {
		return nil, err
	}
	if network != nil {
		if err := b.declareAdapters(network, objects); err != nil {
			return nil, err
		}
	}
	return b.Operator, ctx.RegisterResourceOutputs(b.Operator, pulumi.Map{})
}

func (o *Operator) readyName() string { return o.name + "-ready" }

// options are those of everything that lies in the cluster.
func (b *builder) options(after ...pulumi.Resource) []pulumi.ResourceOption {
	return []pulumi.ResourceOption{
		pulumi.Parent(b.Operator), pulumi.Provider(b.args.Provider), pulumi.DeletedWith(b.args.Provider), pulumi.DependsOn(after),
	}
}

func (b *builder) secrets() map[string]pulumi.StringInput {
	return map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: b.args.Kubeconfig}
}

// lookForNamespaces refuses namespaces that somebody else has made.
func (b *builder) lookForNamespaces() (err error) {
	var spec operatorstep.NamespacesSpec
	for _, object := range gpuoperator.Namespaces(b.cluster) {
		spec.Names = append(spec.Names, object.Metadata.Name)
	}
	b.looked, err = stepresource.New(b.ctx, b.name+"-namespaces", stepresource.Args{
		Step: operatorstep.Namespaces, Spec: spec, Secrets: b.secrets(),
	}, pulumi.Parent(b.Operator))
	return err
}

func (b *builder) declareGPUs(values map[string]any) error {
	var after []pulumi.Resource
	if m := b.args.Environment.Kubernetes.Monitoring; m != nil && m.ServiceMonitors {
		// What Helm makes of the chart would fail half way.
		kinds, err := stepresource.New(b.ctx, b.name+"-monitors", stepresource.Args{
			Step: operatorstep.Kinds, Spec: operatorstep.ServiceMonitors(), Secrets: b.secrets(), Heal: b.repairs,
		}, pulumi.Parent(b.Operator))
		if err != nil {
			return err
		}
		after = append(after, kinds)
	}
	var parts []string
	if b.cluster.NodeFeatures == gpuoperator.FeaturesGPU {
		parts = append(parts, "node-feature-discovery")
	}
	return b.install(chart{gpuoperator.ReleaseName, gpuoperator.ChartVersion, gpuoperator.Namespace, parts, values}, after...)
}

func (b *builder) declareAdapters(values map[string]any, objects []kubeobject.Object) error {
	var parts []string
	if b.cluster.NodeFeatures == gpuoperator.FeaturesNetwork {
		parts = append(parts, "node-feature-discovery")
	}
	if err := b.install(chart{gpuoperator.NetworkReleaseName, gpuoperator.NetworkChartVersion, gpuoperator.NetworkNamespace, parts, values}); err != nil {
		return err
	}
	for _, object := range objects {
		policy, err := kuberesource.NewObject(b.ctx, b.name+"-"+object.Metadata.Name, object, b.options(b.Installed...)...)
		if err != nil {
			return fmt.Errorf("declaring %s: %w", object.ID(), err)
		}
		b.Installed = append(b.Installed, policy)
	}
	return nil
}

// chart is one that is installed, with the charts within it whose kinds are used.
type chart struct {
	name, version, namespace string
	parts                    []string
	values                   map[string]any
}

// install makes a chart's namespace with its labels, its definitions, and what the
// chart has. Helm does not wait: the pods wait for workers.
func (b *builder) install(c chart, after ...pulumi.Resource) error {
	for _, object := range gpuoperator.Namespaces(b.cluster) {
		if object.Metadata.Name != c.namespace {
			continue
		}
		namespace, err := kuberesource.NewObject(b.ctx, b.name+"-namespace-"+c.namespace, object, b.options(b.looked)...)
		if err != nil {
			return fmt.Errorf("declaring %s: %w", object.ID(), err)
		}
		after = append(after, namespace)
	}
	place := kuberesource.Place(b.args.Charts)
	defined, err := stepresource.New(b.ctx, b.name+"-"+c.name+"-definitions", stepresource.Args{
		Step: operatorstep.Definitions, Secrets: b.secrets(), Heal: b.repairs,
		Spec: operatorstep.DefinitionsSpec{
			Chart: helmchart.Source{Repository: gpuoperator.Repository, Name: c.name, Version: c.version}, Parts: c.parts,
		},
		Later: map[string]pulumi.StringInput{operatorstep.EnvCharts: place},
	}, pulumi.Parent(b.Operator))
	if err != nil {
		return err
	}
	at, repository := kuberesource.Hosted(place, gpuoperator.Repository, c.name, c.version)
	release, err := kuberesource.NewRelease(b.ctx, b.name+"-"+c.name, kuberesource.Release{
		Chart: at, Repository: repository, Version: c.version, Name: c.name, Namespace: c.namespace, Values: c.values,
		Limit: releaseLimit, Repairs: b.repairs, SkipCRDs: true, SkipAwait: true,
		Record: &kuberesource.Record{Parent: b.Operator, Kubeconfig: b.args.Kubeconfig, Heal: b.args.Heal},
	}, b.options(append(after, defined)...)...)
	if err != nil {
		return err
	}
	b.Installed = append(b.Installed, release)
	return nil
}

// Wait declares what waits until the operators say that all hosts are served. It is
// called once, with what makes workers join; a host with a part that does not come
// up is told of by the operator's own words.
func (o *Operator) Wait(ctx *pulumi.Context, after ...pulumi.Resource) (pulumi.Resource, error) {
	spec := operatorstep.ReadySpec{Limit: o.args.Environment.Kubernetes.GPUOperator.Timeout, Release: o.release}
	for _, s := range gpuoperator.Statuses(o.cluster) {
		spec.Statuses = append(spec.Statuses, operatorstep.Status(s))
	}
	for _, object := range gpuoperator.Namespaces(o.cluster) {
		spec.Namespaces = append(spec.Namespaces, object.Metadata.Name)
	}
	return stepresource.New(ctx, o.readyName(), stepresource.Args{
		Step: operatorstep.Ready, Spec: spec,
		Secrets: map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: o.args.Kubeconfig}, Heal: o.args.Heal.Count(o.readyName()),
	}, pulumi.Parent(o), pulumi.DependsOn(append(after, o.Installed...)))
}
