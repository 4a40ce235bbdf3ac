// Package kuberesource registers what lies in a Kubernetes cluster: objects, and
// releases of Helm's charts. The SDK's own types for all kinds take minutes to
// compile; what is needed of them is here.
//
// The usual path is [NewRelease] for a chart, and [NewObject] for each object
// after it.
package kuberesource

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// resource is one of the Kubernetes provider.
type resource struct {
	pulumi.CustomResourceState
}

// NewObject registers an object, which is anything that JSON makes one of. Its
// fields are ours: what somebody else has written there is written over when the
// object changes.
func NewObject(ctx *pulumi.Context, name string, object any, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	fields, err := fieldsOf(object)
	if err != nil {
		return nil, err
	}
	version, _ := fields["apiVersion"].(string)
	kind, _ := fields["kind"].(string)
	if version == "" || kind == "" {
		return nil, errors.New("an object needs apiVersion and kind")
	}
	own(fields)
	return register(ctx, token(version, kind), name, untyped(fields), opts...)
}

// fieldManager is who the API server takes for the author of our objects' fields.
const fieldManager = "gpucluster"

// own has the plugin write under a name that stays, and over what others wrote.
// Else each creation has a name by chance: an object that was made and not
// recorded, as when a run is killed, could never be changed again.
func own(fields map[string]any) {
	metadata, _ := fields["metadata"].(map[string]any)
	if metadata == nil {
		metadata = map[string]any{}
	}
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations["pulumi.com/patchFieldManager"], annotations["pulumi.com/patchForce"] = fieldManager, "true"
	metadata["annotations"], fields["metadata"] = annotations, metadata
}

func register(ctx *pulumi.Context, token, name string, inputs kubernetes.UntypedArgs, opts ...pulumi.ResourceOption) (pulumi.Resource, error) {
	var made resource
	if err := ctx.RegisterResource(token, name, inputs, &made, opts...); err != nil {
		return nil, err
	}
	return &made, nil
}

// token is the provider's name of an object's type.
func token(version, kind string) string {
	if !strings.Contains(version, "/") {
		version = "core/" + version
	}
	return "kubernetes:" + version + ":" + kind
}

func fieldsOf(object any) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	return fields, json.Unmarshal(text, &fields)
}

func untyped(fields map[string]any) kubernetes.UntypedArgs {
	inputs := kubernetes.UntypedArgs{}
	for key, value := range fields {
		inputs[key] = input(value)
	}
	return inputs
}

// input is a value of JSON as an input.
func input(value any) pulumi.Input {
	switch value := value.(type) {
	case map[string]any:
		out := pulumi.Map{}
		for key, inner := range value {
			out[key] = input(inner)
		}
		return out
	case []any:
		out := pulumi.Array{}
		for _, inner := range value {
			out = append(out, input(inner))
		}
		return out
	case string:
		return pulumi.String(value)
	case bool:
		return pulumi.Bool(value)
	case nil:
		return nil
	default:
		return pulumi.Float64(value.(float64))
	}
}
