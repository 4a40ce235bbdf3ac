// Package tenant registers what guards a team's work in a Kubernetes cluster,
// whatever queues the team's jobs.
package tenant

import (
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/teamstep"
)

// Made is an object that has been declared.
type Made struct {
	Object   kubeobject.Object
	Resource pulumi.Resource
}

// Guard is deleted before all that a team has, of the objects given, and refuses
// while the team is at work. With the cluster it goes without asking: the
// cluster's own guard has asked.
func Guard(ctx *pulumi.Context, name string, team queues.Team, kubeconfig pulumi.StringInput, provider pulumi.ProviderResource, parent pulumi.Resource, all []Made) error {
	var after []pulumi.Resource
	for _, made := range all {
		if made.Object.Metadata.Labels[queues.TeamLabel] == team.Name {
			after = append(after, made.Resource)
		}
	}
	_, err := stepresource.New(ctx, name+"-team-"+team.Name, stepresource.Args{
		Step:    teamstep.Guard,
		Spec:    teamstep.GuardSpec{Team: team.Name, Namespace: team.Namespace},
		Secrets: map[string]pulumi.StringInput{teamstep.SecretKubeconfig: kubeconfig},
	}, pulumi.Parent(parent), pulumi.DeletedWith(provider), pulumi.DependsOn(after))
	return err
}
