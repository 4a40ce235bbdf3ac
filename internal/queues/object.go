package queues

import (
	"bytes"
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Object is one object of the API server. What a kind does not have is empty.
type Object struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   Meta   `json:"metadata"`
	// Spec is a value of this package's type for the kind.
	Spec any `json:"spec,omitempty"`
	// RoleRef and Subjects of a RoleBinding.
	RoleRef  *RoleRef  `json:"roleRef,omitempty"`
	Subjects []Subject `json:"subjects,omitempty"`
	// Value and Description of a WorkloadPriorityClass.
	Value       *int   `json:"value,omitempty"`
	Description string `json:"description,omitempty"`
}

// Meta names an object.
type Meta struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// ID tells an object from all others: its kind and, where it has one, namespace,
// and its name.
func (o Object) ID() string {
	if o.Metadata.Namespace == "" {
		return o.Kind + "/" + o.Metadata.Name
	}
	return o.Kind + "/" + o.Metadata.Namespace + "/" + o.Metadata.Name
}

// Selector chooses objects by their labels.
type Selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// asYAML writes a value of JSON as YAML with the same order of fields.
func asYAML(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	// JSON is YAML, in another style.
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, err
	}
	plain(&node)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&node); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// plain takes JSON's style off a node. Text that would be read as something else
// stays quoted.
func plain(node *yaml.Node) {
	node.Style = 0
	for _, inner := range node.Content {
		plain(inner)
	}
}

// YAML writes objects as one document each.
func YAML(objects []Object) ([]byte, error) {
	var out bytes.Buffer
	for i, o := range objects {
		text, err := asYAML(o)
		if err != nil {
			return nil, fmt.Errorf("writing %s: %w", o.ID(), err)
		}
		if i > 0 {
			out.WriteString("---\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}
