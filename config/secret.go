package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// UnmarshalYAML takes a Pulumi secret, {secure: …}, whose clear text only the
// engine knows, and refuses anything else.
func (s *Secret) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode && node.Value != "" {
		return &strictyaml.Error{Kind: strictyaml.Kind(KindSecret), What: "a secret in clear text"}
	}
	if node.Kind != yaml.MappingNode || len(node.Content) != 2 || node.Content[0].Value != "secure" ||
		node.Content[1].Kind != yaml.ScalarNode || node.Content[1].Value == "" {
		return &strictyaml.Error{Kind: strictyaml.Kind(KindSecret), What: "needs a Pulumi secret, {secure: ...}"}
	}
	s.Set = true
	return nil
}

// secretHint says how to set the secret at a path in a file. Pulumi reads the
// value from standard input, so that it is in no command line.
func secretHint(file, path string) string {
	stack, ok := StackOf(file)
	if !ok {
		stack = "ENV"
	}
	return fmt.Sprintf("take it out and run: tools/stack.sh pulumi %s config set --secret --path '%s.%s' < file", stack, EnvironmentKey, path)
}

// FillSecrets fills in the clear text of the secrets that the file gives.
// Decrypted is the environment as the Pulumi engine hands it to a program:
// the value of gpucluster:environment, decoded from JSON. The error names every
// secret that is not in it, or that cannot be what it should be.
func FillSecrets(e *Environment, decrypted any) error {
	var missing []string
	eachSecret(reflect.ValueOf(e).Elem(), "", decrypted, func(path string, secret *Secret, clear any) {
		if !secret.Set {
			return
		}
		value, ok := clear.(string)
		if !ok || value == "" {
			missing = append(missing, path)
			return
		}
		secret.Value = value
	})
	if len(missing) > 0 {
		return fmt.Errorf("the engine gives no clear text for %s", strings.Join(missing, ", "))
	}
	v := &validator{env: e}
	v.secrets()
	var bad []error
	for _, p := range v.problems {
		bad = append(bad, p.err())
	}
	return errors.Join(bad...)
}

// eachSecret walks the structs that may hold secrets, and beside them the
// decoded JSON.
func eachSecret(v reflect.Value, path string, beside any, do func(path string, secret *Secret, beside any)) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if secret, ok := v.Addr().Interface().(*Secret); ok {
		do(path, secret, beside)
		return
	}
	if v.Kind() != reflect.Struct {
		return
	}
	object, _ := beside.(map[string]any)
	for _, field := range strictyaml.Fields(v.Type()) {
		eachSecret(v.Field(field.Index), strictyaml.Child(path, field.Name), object[field.Name], do)
	}
}
