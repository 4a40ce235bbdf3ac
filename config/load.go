package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

const (
	// Namespace is what the keys of this project begin with in a stack file.
	Namespace = "gpucluster:"
	// EnvironmentKey is the one key of this project.
	EnvironmentKey = Namespace + "environment"
)

// Load reads a stack file: it decodes strictly, fills defaults and validates.
// File is where the content is from: problems name it, and where it is called
// Pulumi.<name>.yaml, the environment must have that name. The report is never
// nil; the environment is nil when the report has errors.
func Load(file string, content []byte) (*Environment, *Report) {
	r := newReport(file, content)
	document := r.parse(content)
	if document == nil {
		r.waiting = true
		return nil, r.sorted()
	}
	key, node := r.environmentNode(document)
	if node == nil {
		r.waiting = true
		return nil, r.sorted()
	}
	env := &Environment{}
	index, problems := strictyaml.Decode(node, "", env)
	root := index[""]
	root.Key = key
	index[""] = root
	decoded := r.addDecoded(problems, index)

	v := &validator{env: env, given: index.Has, broken: decoded, incomplete: len(problems) > 0}
	v.constraints()
	env.SetDefaults()
	v.rules(PartReach, PartScheduler)
	v.nameOfFile(file)
	r.waiting = v.incomplete || v.waiting
	r.addValidated(v.problems, index)
	r.sorted()
	if r.Failed() {
		return nil, r
	}
	return env, r
}

// StackOf is the name of the stack whose file is called Pulumi.<name>.yaml, and
// whether the file is called so.
func StackOf(file string) (string, bool) {
	name, begins := strings.CutPrefix(filepath.Base(file), "Pulumi.")
	name, ends := strings.CutSuffix(name, ".yaml")
	return name, begins && ends && name != ""
}

// raw keeps a part of the file as it is.
type raw struct{ node *yaml.Node }

func (r *raw) UnmarshalYAML(node *yaml.Node) error { r.node = node; return nil }

// stackFile is Pulumi's own layout of the file.
type stackFile struct {
	Config          map[string]raw `yaml:"config"`
	EncryptionSalt  raw            `yaml:"encryptionsalt,omitempty"`
	SecretsProvider raw            `yaml:"secretsprovider,omitempty"`
	EncryptedKey    raw            `yaml:"encryptedkey,omitempty"`
	Environment     raw            `yaml:"environment,omitempty"`
}

// parse reads the one document of the file; nil when there is none.
func (r *Report) parse(content []byte) (node *yaml.Node) {
	defer func() {
		if p := recover(); p != nil {
			r.add(Problem{Kind: KindSyntax, Line: 1, Column: 1, What: fmt.Sprint("not YAML: ", p)})
			node = nil
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF) || err == nil && len(document.Content) == 0:
		r.add(Problem{Kind: KindMissing, Line: 1, Column: 1, What: "the file is empty",
			Hint: "begin with config:, and under it " + EnvironmentKey + ":"})
		return nil
	case err != nil:
		r.syntax(err)
		return nil
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
		return nil
	default:
		r.add(Problem{Kind: KindSyntax, Line: max(second.Line, 1), Column: max(second.Column, 1),
			What: "a second document", Hint: "a stack file is one document: remove the line --- and what follows"})
		return nil
	}
	return document.Content[0]
}

// environmentNode finds the environment in the stack file, with its key.
func (r *Report) environmentNode(document *yaml.Node) (key, value *yaml.Node) {
	var stack stackFile
	index, problems := strictyaml.Decode(document, "", &stack)
	starts := r.starts(index)
	for _, p := range problems {
		r.addDecodedOne(p, starts)
	}
	for name, item := range stack.Config {
		entry := index[strictyaml.Child("config", name)]
		switch {
		case name == EnvironmentKey:
			key, value = entry.Key, item.node
		case strings.HasPrefix(name, Namespace) || !strings.Contains(name, ":"):
			r.withhold(entry.Key.Line, starts)
			r.add(Problem{Kind: KindUnknownKey, Line: entry.Key.Line, Column: entry.Key.Column,
				Path: strictyaml.Child("config", name), What: fmt.Sprintf("unknown key %q", name),
				Hint: "the only key of this project is " + EnvironmentKey})
		}
	}
	switch {
	case value == nil && len(problems) == 0:
		at := document
		if entry, ok := index["config"]; ok {
			at = entry.Key
		}
		r.add(Problem{Kind: KindMissing, Line: at.Line, Column: at.Column, Path: "config",
			What: "no " + EnvironmentKey, Hint: "describe the environment under config:, " + EnvironmentKey + ":"})
	case value != nil && value.Kind == yaml.MappingNode && len(value.Content) == 2 && value.Content[0].Value == "secure":
		r.add(Problem{Kind: KindType, Line: value.Line, Column: value.Column, What: "the whole environment is a secret",
			Hint: "write it in clear text; single values in it can be secrets"})
		return nil, nil
	}
	return key, value
}
