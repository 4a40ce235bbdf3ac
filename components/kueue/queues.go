// Package kueue has Kueue decide in a Kubernetes cluster when jobs start, and
// makes each team of an environment a tenant of it: a namespace, rights, a queue
// with quotas, and policies that leave no way around them.
//
// The usual path is [NewQueues] with the kubeconfig of a cluster.
package kueue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kueuestep"
)

const (
	// upstreamChart is where Kueue's makers have their chart.
	upstreamChart = "oci://registry.k8s.io/kueue/charts/kueue"
	// releaseLimit is how long Kueue may take until it runs, in seconds: its image
	// is pulled within it.
	releaseLimit = 600
	// readyLimit is how long its webhooks may take after that.
	readyLimit = "3m"
)

// Queues are Kueue and the queues of an environment's teams.
type Queues struct {
	pulumi.ResourceState

	// Provider is how Kubernetes is reached, for objects of a program's own.
	Provider *kubernetes.Provider
}

// QueuesArgs says what is queued and where. The environment is plain: it decides
// which resources exist.
type QueuesArgs struct {
	// Environment with a kubernetes section and queueing kueue. It is judged by
	// [config.Check], and need say nothing of how hosts are reached.
	Environment *config.Environment
	// Kubeconfig is an administrator's. It is kept secret.
	Kubeconfig pulumi.StringInput
	// Chart is Kueue's, of release 0.17.0, as Helm names it: a file, a URL, or a
	// place in a registry. Default: where its makers have it. A file has to be
	// there at the same place wherever the program runs.
	Chart pulumi.StringInput
	// DeletedWith is a resource with which the cluster goes: when it is deleted
	// too, nothing here is deleted by itself, so that no API has to answer.
	// Default: each object is deleted.
	DeletedWith pulumi.Resource
}

// builder is what is being declared.
type builder struct {
	*Queues
	ctx  *pulumi.Context
	name string
	args *QueuesArgs
	made []made
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
	if args.Kubeconfig == nil {
		return nil, errors.New("queues need a kubeconfig")
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
	if err := b.declareProvider(); err != nil {
		return nil, err
	}
	ready, err := b.declareKueue(values)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if err := b.declare(object, ready); err != nil {
			return nil, err
		}
	}
	return b.Queues, ctx.RegisterResourceOutputs(b.Queues, pulumi.Map{})
}

func (b *builder) kubeconfig() pulumi.StringOutput {
	return pulumi.ToSecret(b.args.Kubeconfig).(pulumi.StringOutput)
}

// declareProvider names the cluster: without it every object would be replaced
// when the kubeconfig's certificate is.
func (b *builder) declareProvider() error {
	provider, err := kubernetes.NewProvider(b.ctx, b.name+"-api", &kubernetes.ProviderArgs{
		Kubeconfig:        b.kubeconfig(),
		ClusterIdentifier: pulumi.String(b.args.Environment.Name),
	}, pulumi.Parent(b.Queues))
	b.Provider = provider
	return err
}

// options are those of everything that lies in the cluster.
func (b *builder) options(after ...pulumi.Resource) []pulumi.ResourceOption {
	opts := []pulumi.ResourceOption{pulumi.Parent(b.Queues), pulumi.Provider(b.Provider), pulumi.DependsOn(after)}
	if b.args.DeletedWith != nil {
		opts = append(opts, pulumi.DeletedWith(b.args.DeletedWith))
	}
	return opts
}

// declareKueue installs the chart and returns what has to be done before Kueue's
// objects are made. The chart has its definitions among its templates, so that
// Helm renews them, and takes them away with everything of their kinds.
func (b *builder) declareKueue(values map[string]any) (pulumi.Resource, error) {
	chart := b.args.Chart
	if chart == nil {
		chart = pulumi.String(upstreamChart)
	}
	release, err := b.register("kubernetes:helm.sh/v3:Release", b.name+"-release", kubernetes.UntypedArgs{
		"chart":           chart,
		"version":         pulumi.String(queues.ChartVersion),
		"name":            pulumi.String(queues.ReleaseName),
		"namespace":       pulumi.String(queues.ManagerNamespace),
		"createNamespace": pulumi.Bool(true),
		"timeout":         pulumi.Int(releaseLimit),
		"values":          asInput(values),
		// What the SDK says of each release, by which the plugin knows it.
		"compat": pulumi.String("true"),
	})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(text)
	probe, err := json.Marshal(queues.Probe())
	if err != nil {
		return nil, err
	}
	return stepresource.New(b.ctx, b.name+"-ready", stepresource.Args{
		Step:    kueuestep.Ready,
		Spec:    kueuestep.ReadySpec{Flavor: probe, Limit: readyLimit, Release: queues.ChartVersion + " " + hex.EncodeToString(digest[:6])},
		Secrets: map[string]pulumi.StringInput{kueuestep.SecretKubeconfig: b.kubeconfig()},
	}, pulumi.Parent(b.Queues), pulumi.DependsOn([]pulumi.Resource{release}))
}
