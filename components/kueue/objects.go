package kueue

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// object is a resource of the Kubernetes provider. The SDK's own types for all
// kinds take minutes to compile; what is needed of them is this.
type object struct {
	pulumi.CustomResourceState
}

// register registers a resource by its token.
func (b *builder) register(token, name string, inputs kubernetes.UntypedArgs, after ...pulumi.Resource) (*object, error) {
	var resource object
	if err := b.ctx.RegisterResource(token, name, inputs, &resource, b.options(after...)...); err != nil {
		return nil, err
	}
	return &resource, nil
}

// made is an object that has been declared.
type made struct {
	object   queues.Object
	resource pulumi.Resource
}

// declare makes an object after those that it needs, so that it is also deleted
// before them. Kueue's kinds need Kueue to be ready.
func (b *builder) declare(o queues.Object, ready pulumi.Resource) error {
	after := []pulumi.Resource{}
	if isKueues(o) {
		after = append(after, ready)
	}
	for _, earlier := range b.made {
		if needs(o, earlier.object) {
			after = append(after, earlier.resource)
		}
	}
	inputs, err := asInputs(o)
	if err != nil {
		return fmt.Errorf("declaring %s: %w", o.ID(), err)
	}
	name := b.name + "-" + strings.ReplaceAll(strings.ToLower(o.ID()), "/", "-")
	resource, err := b.register(token(o), name, inputs, after...)
	if err != nil {
		return err
	}
	b.made = append(b.made, made{o, resource})
	return nil
}

func isKueues(o queues.Object) bool { return strings.HasPrefix(o.APIVersion, "kueue.x-k8s.io/") }

// token is the provider's name of an object's type.
func token(o queues.Object) string {
	version := o.APIVersion
	if !strings.Contains(version, "/") {
		version = "core/" + version
	}
	return "kubernetes:" + version + ":" + o.Kind
}

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

// asInputs are the fields of an object as inputs.
func asInputs(o queues.Object) (kubernetes.UntypedArgs, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	inputs := kubernetes.UntypedArgs{}
	for key, value := range fields {
		inputs[key] = asInput(value)
	}
	return inputs, nil
}

// asInput is a value of JSON as an input.
func asInput(value any) pulumi.Input {
	switch value := value.(type) {
	case map[string]any:
		out := pulumi.Map{}
		for key, inner := range value {
			out[key] = asInput(inner)
		}
		return out
	case []any:
		out := pulumi.Array{}
		for _, inner := range value {
			out = append(out, asInput(inner))
		}
		return out
	case string:
		return pulumi.String(value)
	case bool:
		return pulumi.Bool(value)
	case int:
		return pulumi.Int(value)
	default:
		return pulumi.Float64(value.(float64))
	}
}
