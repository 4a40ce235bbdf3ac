package kubetest

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// collection is the path under which an object is made.
func collection(text []byte) (string, error) {
	var object struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   struct {
			Namespace string `yaml:"namespace"`
		} `yaml:"metadata"`
	}
	if err := yaml.Unmarshal(text, &object); err != nil {
		return "", fmt.Errorf("reading an object: %w", err)
	}
	if object.APIVersion == "" || object.Kind == "" {
		return "", fmt.Errorf("an object without apiVersion or kind: %.80s", text)
	}
	path := "/apis/" + object.APIVersion
	if !strings.Contains(object.APIVersion, "/") {
		path = "/api/" + object.APIVersion
	}
	if object.Metadata.Namespace != "" {
		path += "/namespaces/" + object.Metadata.Namespace
	}
	return path + "/" + plural(object.Kind), nil
}

// plural is how paths call a kind.
func plural(kind string) string {
	name := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(name, "s"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	}
	return name + "s"
}
