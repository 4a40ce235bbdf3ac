// Package volcano has Volcano schedule the jobs of a Kubernetes cluster's teams, and
// makes each team of an environment a tenant of it: a namespace, rights, a queue with
// quotas, and policies that leave no way around them.
//
// The usual path is [NewScheduler] with the kubeconfig of a cluster.
package volcano

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
	"github.com/gpucluster/pulumi-gpucluster/internal/tenant"
	"github.com/gpucluster/pulumi-gpucluster/internal/volcano"
)

const (
	// releaseLimit is how long Volcano may take until it runs, in seconds: its images
	// are pulled within it.
	releaseLimit = 900
	// readyLimit is how long its webhooks may take after that.
	readyLimit = "3m"
)

// Scheduler is Volcano and the queues of an environment's teams.
type Scheduler struct {
	pulumi.ResourceState
}

// SchedulerArgs says what is scheduled and where. The environment is plain: it
// decides which resources exist.
type SchedulerArgs struct {
	// Environment with a kubernetes section and queueing volcano. It is judged by
	// [config.Check], and need say nothing of how hosts are reached.
	Environment *config.Environment
	// Kubeconfig is an administrator's. It is kept secret.
	Kubeconfig pulumi.StringInput
	// Provider reaches the same cluster. When it is deleted too, nothing here is
	// deleted by itself, so that no API has to answer.
	Provider pulumi.ProviderResource
	// Charts is a place that has Volcano's chart, of release 1.15.1: a registry
	// (oci://), or a URL or folder with the file volcano-1.15.1.tgz. A folder is
	// relative to the program's. Default, also for "": where its makers have it.
	Charts pulumi.StringInput
	// Heal says what needs repair. Default: nothing.
	Heal *heal.Assessment
}

// builder is what is being declared.
type builder struct {
	*Scheduler
	ctx     *pulumi.Context
	name    string
	args    *SchedulerArgs
	objects *tenant.Objects
}

// NewScheduler installs Volcano, waits until it admits objects, and makes those of
// the fabric and of all teams. People are let into their namespaces last.
func NewScheduler(ctx *pulumi.Context, name string, args *SchedulerArgs, opts ...pulumi.ResourceOption) (*Scheduler, error) {
	if args == nil || args.Environment == nil || args.Environment.Kubernetes == nil {
		return nil, errors.New("a scheduler needs an environment with a kubernetes section")
	}
	if err := config.Check(args.Environment, config.PartScheduler); err != nil {
		return nil, err
	}
	if args.Environment.Kubernetes.Queueing != config.QueueingVolcano {
		return nil, fmt.Errorf("the environment has %q as kubernetes.queueing, not %q", args.Environment.Kubernetes.Queueing, config.QueueingVolcano)
	}
	if args.Kubeconfig == nil || args.Provider == nil {
		return nil, errors.New("a scheduler needs a kubeconfig, and a provider that reaches the same cluster")
	}
	cluster := args.Environment.KubernetesQueues()
	objects, err := volcano.Objects(cluster)
	if err != nil {
		return nil, err
	}
	values, err := volcano.Values(cluster)
	if err != nil {
		return nil, err
	}
	b := &builder{Scheduler: &Scheduler{}, ctx: ctx, name: name, args: args}
	if err := ctx.RegisterComponentResource("gpucluster:volcano:Scheduler", name, b.Scheduler, opts...); err != nil {
		return nil, err
	}
	b.objects = &tenant.Objects{
		Context: ctx, Name: name, Parent: b.Scheduler, Kubeconfig: args.Kubeconfig, Provider: args.Provider, Group: "volcano.sh/", Needs: needs,
	}
	looked, err := b.objects.LookFor(append([]kubeobject.Object{volcano.Namespace()}, objects...))
	if err != nil {
		return nil, err
	}
	ready, err := b.declareVolcano(values, looked)
	if err != nil {
		return nil, err
	}
	if err := b.objects.Declare(objects, cluster.Teams, ready); err != nil {
		return nil, err
	}
	return b.Scheduler, ctx.RegisterResourceOutputs(b.Scheduler, pulumi.Map{})
}

// declareVolcano installs the chart and returns what has to be done before Volcano's
// objects are made. The chart has its definitions among its templates, so that Helm
// renews them, and takes them away with everything of their kinds.
func (b *builder) declareVolcano(values map[string]any, looked []pulumi.Resource) (pulumi.Resource, error) {
	name := b.name + "-ready"
	repairs := b.args.Heal.Count(name)
	namespace, err := kuberesource.NewObject(b.ctx, b.name+"-namespace-"+volcano.ManagerNamespace, volcano.Namespace(), b.objects.Options(looked...)...)
	if err != nil {
		return nil, err
	}
	chart, repository := kuberesource.Hosted(kuberesource.Place(b.args.Charts), volcano.Repository, volcano.ReleaseName, volcano.ChartVersion)
	release, err := kuberesource.NewRelease(b.ctx, b.name+"-release", kuberesource.Release{
		Chart: chart, Repository: repository, Version: volcano.ChartVersion, Name: volcano.ReleaseName, Namespace: volcano.ManagerNamespace,
		Values: values, Limit: releaseLimit, Repairs: repairs,
		Record: &kuberesource.Record{Parent: b.Scheduler, Kubeconfig: b.args.Kubeconfig, Heal: b.args.Heal},
	}, b.objects.Options(namespace)...)
	if err != nil {
		return nil, err
	}
	installation, err := kuberesource.Installation(volcano.ChartVersion, values)
	if err != nil {
		return nil, err
	}
	queue, group := volcano.Probe()
	spec := operatorstep.ReadySpec{Limit: readyLimit, Release: installation, Namespaces: []string{volcano.ManagerNamespace}}
	for _, probe := range []struct {
		path   string
		object kubeobject.Object
	}{
		{"/apis/" + queue.APIVersion + "/queues", queue},
		{"/apis/" + group.APIVersion + "/namespaces/" + group.Metadata.Namespace + "/podgroups", group},
	} {
		object, err := json.Marshal(probe.object)
		if err != nil {
			return nil, err
		}
		spec.Admitted = append(spec.Admitted, operatorstep.Attempt{Path: probe.path, Object: object})
	}
	return stepresource.New(b.ctx, name, stepresource.Args{
		Step: operatorstep.Ready, Spec: spec, Heal: repairs,
		Secrets: map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: b.args.Kubeconfig},
	}, pulumi.Parent(b.Scheduler), pulumi.DependsOn([]pulumi.Resource{release}))
}

// needs tells whether an object of Volcano's can only be there while an earlier one
// is.
func needs(o, earlier kubeobject.Object) bool {
	switch o.Kind {
	case "Queue":
		return earlier.Kind == "Queue" && earlier.Metadata.Name == o.Spec.(volcano.QueueSpec).Parent
	case "HyperNode":
		for _, member := range o.Spec.(volcano.HyperNodeSpec).Members {
			if m := member.Selector.ExactMatch; m != nil && earlier.Kind == "HyperNode" && m.Name == earlier.Metadata.Name {
				return true
			}
		}
	}
	return false
}
