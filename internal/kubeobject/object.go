// Package kubeobject writes objects of Kubernetes' API as values and as text.
//
// The usual path: a pure package fills an [Object]; [YAML] shows it to people and
// golden files, and JSON gives it to the API.
package kubeobject

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
	// Spec is a value of a type for the kind.
	Spec any `json:"spec,omitempty"`
	// Data of a ConfigMap.
	Data map[string]string `json:"data,omitempty"`
	// RoleRef and Subjects of a RoleBinding.
	RoleRef  *RoleRef  `json:"roleRef,omitempty"`
	Subjects []Subject `json:"subjects,omitempty"`
	// Rules of a ClusterRole.
	Rules []Rule `json:"rules,omitempty"`
	// Value and Description of a class of priorities.
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

// RoleRef names the role that a binding gives.
type RoleRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// Rule is what a role lets people do.
type Rule struct {
	APIGroups []string `json:"apiGroups"`
	Resources []string `json:"resources"`
	Verbs     []string `json:"verbs"`
}

// Subject is who is given a role.
type Subject struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// Taint keeps pods away that do not tolerate it.
type Taint struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect"`
}

// ManagedBy is the label that every object of ours has, with Manager as its value.
const (
	ManagedBy = "app.kubernetes.io/managed-by"
	Manager   = "gpucluster"
)

// Labels are those on each object of ours, and further ones in pairs of key and
// value.
func Labels(of ...string) map[string]string {
	m := map[string]string{ManagedBy: Manager}
	for i := 0; i < len(of); i += 2 {
		m[of[i]] = of[i+1]
	}
	return m
}

// Security is a level of Pod Security.
type Security string

// Levels of Pod Security.
const (
	// Restricted refuses pods that could do what the host's root can.
	Restricted Security = "restricted"
	// Baseline refuses what is known to give a pod the host's rights.
	Baseline Security = "baseline"
	// Privileged lets every pod in: what looks after hosts needs their files.
	Privileged Security = "privileged"
)

// Namespace is one whose pods are held to a level, with further labels in pairs.
func Namespace(name string, level Security, of ...string) Object {
	all := Labels(of...)
	for _, mode := range []string{"enforce", "audit", "warn"} {
		all["pod-security.kubernetes.io/"+mode] = string(level)
	}
	return Object{APIVersion: "v1", Kind: "Namespace", Metadata: Meta{Name: name, Labels: all}}
}

// Selector chooses objects by their labels.
type Selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

// AsYAML writes a value of JSON as YAML with the same order of fields.
func AsYAML(value any) ([]byte, error) {
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
		text, err := AsYAML(o)
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
