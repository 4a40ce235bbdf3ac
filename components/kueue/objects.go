package kueue

import (
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
	"github.com/gpucluster/pulumi-gpucluster/internal/tenant"
)

// declare makes an object after those that it needs, so that it is also deleted
// before them. Kueue's kinds need Kueue to be ready.
func (b *builder) declare(o queues.Object, ready pulumi.Resource) error {
	after := []pulumi.Resource{}
	if isKueues(o) {
		after = append(after, ready)
	}
	for _, earlier := range b.made {
		if needs(o, earlier.Object) {
			after = append(after, earlier.Resource)
		}
	}
	name := b.name + "-" + strings.ReplaceAll(strings.ToLower(o.ID()), "/", "-")
	resource, err := kuberesource.NewObject(b.ctx, name, o, b.options(after...)...)
	if err != nil {
		return fmt.Errorf("declaring %s: %w", o.ID(), err)
	}
	b.made = append(b.made, tenant.Made{Object: o, Resource: resource})
	return nil
}

func isKueues(o queues.Object) bool { return strings.HasPrefix(o.APIVersion, "kueue.x-k8s.io/") }

// needs tells whether an object can only be there while an earlier one is.
func needs(o, earlier queues.Object) bool {
	if earlier.Kind == "Namespace" {
		return o.Metadata.Namespace == earlier.Metadata.Name
	}
	switch o.Kind {
	case "ResourceFlavor":
		return earlier.Kind == "Topology"
	case "ClusterQueue":
		return earlier.Kind == "ResourceFlavor"
	case "LocalQueue":
		return earlier.Kind == "ClusterQueue" && earlier.Metadata.Name == o.Spec.(queues.LocalQueueSpec).ClusterQueue
	case "ValidatingAdmissionPolicyBinding":
		return earlier.Kind == "ValidatingAdmissionPolicy" && earlier.Metadata.Name == o.Metadata.Name
	case "RoleBinding":
		// Nobody is let in before everything holds that is to hold them.
		team := earlier.Metadata.Labels[queues.TeamLabel]
		return earlier.Kind != "RoleBinding" && team == o.Metadata.Labels[queues.TeamLabel] || earlier.Kind == "ValidatingAdmissionPolicyBinding" && team == ""
	}
	return false
}
