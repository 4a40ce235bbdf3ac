package kuberesource

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
)

// Release is a chart in a cluster, installed by Helm itself, which keeps the
// chart's order and runs its hooks.
type Release struct {
	// Chart is where it is: a result of [Chart].
	Chart pulumi.StringInput
	// Repository is the URL of Helm's repository in which Chart is a name. Default,
	// also for "": Chart says where it is.
	Repository pulumi.StringInput
	// Version is the chart's.
	Version string
	// Name of the release.
	Name string
	// Namespace it is in; it is made.
	Namespace string
	// Values are those of the chart that differ from its own.
	Values map[string]any
	// Limit is how long it may take until it runs, in seconds, pulling its images
	// included.
	Limit int
	// Repairs counts how often it was found broken: with another count Helm puts
	// everything back.
	Repairs int
	// SkipAwait has the release done when its objects are made, whether or not they
	// run.
	SkipAwait bool
	// SkipCRDs leaves out the definitions in the chart's crds folder, which Helm
	// would never renew.
	SkipCRDs bool
	// Record has what Helm knows of the release judged before it, so that one at which
	// a run was cut off is installed all the same. Default: Helm refuses that one.
	Record *Record
}

// Record is how Helm's record of a release is reached.
type Record struct {
	// Parent is that of the release.
	Parent pulumi.Resource
	// Kubeconfig is an administrator's, a secret.
	Kubeconfig pulumi.StringInput
	// Heal says what the last update left. Default: nothing.
	Heal *heal.Assessment
}

// judge registers what looks at the record before the release is made.
func (r *Record) judge(ctx *pulumi.Context, name string, release Release) (pulumi.Resource, error) {
	record := name + "-record"
	return stepresource.New(ctx, record, stepresource.Args{
		Step: operatorstep.Record, Spec: operatorstep.RecordSpec{Namespace: release.Namespace, Release: release.Name},
		Secrets:      map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: r.Kubeconfig},
		Heal:         r.Heal.CountWithout(record, name),
		UsesPrevious: true,
	}, pulumi.Parent(r.Parent))
}

// NewRelease registers a release.
func NewRelease(ctx *pulumi.Context, name string, r Release, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	values, err := fieldsOf(r.Values)
	if err != nil {
		return nil, fmt.Errorf("encoding the values of %s: %w", name, err)
	}
	inputs := kubernetes.UntypedArgs{
		"chart":           r.Chart,
		"version":         pulumi.String(r.Version),
		"name":            pulumi.String(r.Name),
		"namespace":       pulumi.String(r.Namespace),
		"createNamespace": pulumi.Bool(true),
		"timeout":         pulumi.Int(r.Limit),
		"values":          input(values),
		// What the SDK says of each release, by which the plugin knows it.
		"compat": pulumi.String("true"),
	}
	if r.Repository != nil {
		inputs["repositoryOpts"] = pulumi.Map{"repo": r.Repository}
	}
	if r.SkipAwait {
		inputs["skipAwait"] = pulumi.Bool(true)
	}
	if r.SkipCRDs {
		inputs["skipCrds"] = pulumi.Bool(true)
	}
	if r.Repairs > 0 {
		inputs["description"] = pulumi.Sprintf("put back %d times", r.Repairs)
	}
	if r.Record != nil {
		judged, err := r.Record.judge(ctx, name, r)
		if err != nil {
			return nil, err
		}
		opts = append(opts, pulumi.DependsOn([]pulumi.Resource{judged}))
	}
	return register(ctx, priorstate.ReleaseType, name, inputs, opts...)
}

// Chart is where Helm finds a chart: in a place of the site's, which is a registry
// (oci://), or a URL or folder with files NAME-VERSION.tgz; where that is "", in
// the place of its makers.
func Chart(place, makers pulumi.StringInput, name, version string) pulumi.StringInput {
	return pulumi.All(place, makers).ApplyT(func(known []any) string {
		return at(known[0].(string), known[1].(string), name, version)
	}).(pulumi.StringOutput)
}

// Hosted is where Helm finds a chart whose makers have it in a repository of Helm's:
// in a place of the site's, as [Chart] knows them; where that is "", by its name in
// the repository.
func Hosted(place pulumi.StringInput, repository, name, version string) (chart, at pulumi.StringInput) {
	if known, ok := place.(pulumi.String); ok && known == "" {
		return pulumi.String(name), pulumi.String(repository)
	} else if ok {
		return pulumi.String(siteChart(string(known), name, version)), nil
	}
	resolved := place.ToStringOutput()
	return resolved.ApplyT(func(known string) string {
			if known == "" {
				return name
			}
			return siteChart(known, name, version)
		}).(pulumi.StringOutput), resolved.ApplyT(func(known string) string {
			if known == "" {
				return repository
			}
			return ""
		}).(pulumi.StringOutput)
}

func siteChart(place, name, version string) string { return at(place, "", name, version) }

func at(place, makers, name, version string) string {
	switch {
	case place == "":
		return strings.TrimSuffix(makers, "/") + "/" + name
	case strings.HasPrefix(place, "oci://"):
		return strings.TrimSuffix(place, "/") + "/" + name
	default:
		return strings.TrimSuffix(place, "/") + "/" + name + "-" + version + ".tgz"
	}
}
