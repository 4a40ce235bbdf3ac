// Package tenant registers what teams have in a Kubernetes cluster, whatever queues
// their jobs: objects in their order, and what guards a team's work.
package tenant

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/operatorstep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/teamstep"
)

// Objects are declared one after the other in a cluster.
type Objects struct {
	Context *pulumi.Context
	// Name begins those of all resources, and Parent is above them.
	Name   string
	Parent pulumi.Resource
	// Kubeconfig and Provider reach the cluster.
	Kubeconfig pulumi.StringInput
	Provider   pulumi.ProviderResource
	// Group begins the API versions, or is a part of them, whose kinds need what
	// queues jobs to be ready.
	Group string
	// Needs tells whether an object of the queue's own kinds can only be there while
	// an earlier one is.
	Needs func(o, earlier kubeobject.Object) bool

	made []made
	// looked is the look at whose namespaces are, where there was one.
	looked []pulumi.Resource
}

// made is an object that has been declared.
type made struct {
	object   kubeobject.Object
	resource pulumi.Resource
}

// Options are those of everything that lies in the cluster.
func (d *Objects) Options(after ...pulumi.Resource) []pulumi.ResourceOption {
	return []pulumi.ResourceOption{
		pulumi.Parent(d.Parent), pulumi.Provider(d.Provider), pulumi.DeletedWith(d.Provider), pulumi.DependsOn(after),
	}
}

// LookFor has the namespaces among objects looked for before any is made: those of
// somebody else are refused. It returns what they come after.
func (d *Objects) LookFor(all []kubeobject.Object) ([]pulumi.Resource, error) {
	var spec operatorstep.NamespacesSpec
	for _, object := range all {
		if object.Kind == "Namespace" {
			spec.Names = append(spec.Names, object.Metadata.Name)
		}
	}
	if len(spec.Names) == 0 {
		return nil, nil
	}
	looked, err := stepresource.New(d.Context, d.Name+"-namespaces", stepresource.Args{
		Step: operatorstep.Namespaces, Spec: spec,
		Secrets: map[string]pulumi.StringInput{operatorstep.SecretKubeconfig: d.Kubeconfig},
	}, pulumi.Parent(d.Parent))
	if err != nil {
		return nil, err
	}
	d.looked = []pulumi.Resource{looked}
	return d.looked, nil
}

// Declare makes all objects, and what guards the work of each team.
func (d *Objects) Declare(all []kubeobject.Object, teams []queues.Team, ready pulumi.Resource) error {
	for _, object := range all {
		if err := d.declare(object, ready); err != nil {
			return err
		}
	}
	for _, team := range teams {
		if err := d.guard(team); err != nil {
			return err
		}
	}
	return nil
}

// declare makes an object after those that it needs, so that it is also deleted
// before them.
func (d *Objects) declare(o kubeobject.Object, ready pulumi.Resource) error {
	var after []pulumi.Resource
	if o.Kind == "Namespace" {
		after = append(after, d.looked...)
	}
	if strings.Contains(o.APIVersion, d.Group) {
		after = append(after, ready)
	}
	for _, earlier := range d.made {
		if needs(o, earlier.object) || d.Needs(o, earlier.object) {
			after = append(after, earlier.resource)
		}
	}
	name := d.Name + "-" + strings.ReplaceAll(strings.ToLower(o.ID()), "/", "-")
	resource, err := kuberesource.NewObject(d.Context, name, o, d.Options(after...)...)
	if err != nil {
		return fmt.Errorf("declaring %s: %w", o.ID(), err)
	}
	d.made = append(d.made, made{o, resource})
	return nil
}

// needs tells whether an object of any team can only be there while an earlier one
// is.
func needs(o, earlier kubeobject.Object) bool {
	if earlier.Kind == "Namespace" {
		return o.Metadata.Namespace == earlier.Metadata.Name
	}
	switch o.Kind {
	case "ValidatingAdmissionPolicyBinding":
		return earlier.Kind == "ValidatingAdmissionPolicy" && earlier.Metadata.Name == o.Metadata.Name
	case "RoleBinding":
		// Nobody is let in before everything holds that is to hold them.
		team := earlier.Metadata.Labels[queues.TeamLabel]
		return earlier.Kind != "RoleBinding" && team == o.Metadata.Labels[queues.TeamLabel] || team == "" && (earlier.Kind == "ValidatingAdmissionPolicyBinding" || earlier.Kind == "ClusterRole")
	}
	return false
}

// guard is deleted before all that a team has, and refuses while the team is at
// work. With the cluster it goes without asking: the cluster's own guard has asked.
func (d *Objects) guard(team queues.Team) error {
	var after []pulumi.Resource
	for _, made := range d.made {
		if made.object.Metadata.Labels[queues.TeamLabel] == team.Name {
			after = append(after, made.resource)
		}
	}
	_, err := stepresource.New(d.Context, d.Name+"-team-"+team.Name, stepresource.Args{
		Step:    teamstep.Guard,
		Spec:    teamstep.GuardSpec{Team: team.Name, Namespace: team.Namespace},
		Secrets: map[string]pulumi.StringInput{teamstep.SecretKubeconfig: d.Kubeconfig},
	}, pulumi.Parent(d.Parent), pulumi.DeletedWith(d.Provider), pulumi.DependsOn(after))
	return err
}
