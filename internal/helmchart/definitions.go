package helmchart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Definition is a custom resource definition.
type Definition struct {
	// Name such as "things.example.org".
	Name string
	// Object is the whole, as JSON.
	Object []byte
}

// Definitions reads those in the crds folder of a chart, and of the charts within
// it that parts names. They are sorted by name. A chart without any is an error.
func Definitions(chart []byte, parts ...string) ([]Definition, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(chart))
	if err != nil {
		return nil, fmt.Errorf("reading the chart: %w", err)
	}
	var all []Definition
	missing := slices.Clone(parts)
	archive := tar.NewReader(io.LimitReader(unpacked, mostBytes))
	for {
		file, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the chart: %w", err)
		}
		if !holds(file.Name, parts) {
			continue
		}
		found, err := read(archive)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file.Name, err)
		}
		all = append(all, found...)
		missing = slices.DeleteFunc(missing, func(part string) bool { return strings.Contains(file.Name, "/charts/"+part+"/") })
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("the chart has no custom resource definitions of its part %s", missing[0])
	}
	if len(all) == 0 {
		return nil, errors.New("the chart has no custom resource definitions")
	}
	slices.SortFunc(all, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// holds tells whether a file of a chart has definitions that are wanted.
func holds(name string, parts []string) bool {
	steps := strings.Split(path.Clean(name), "/")
	if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
		return false
	}
	if len(steps) == 5 && steps[1] == "charts" && slices.Contains(parts, steps[2]) {
		steps = steps[2:]
	}
	return len(steps) == 3 && steps[1] == "crds"
}

// read reads the documents of a file.
func read(file io.Reader) ([]Definition, error) {
	var all []Definition
	decoder := yaml.NewDecoder(file)
	for {
		var object map[string]any
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if object == nil {
			continue
		}
		meta, _ := object["metadata"].(map[string]any)
		name, _ := meta["name"].(string)
		if object["kind"] != "CustomResourceDefinition" || object["apiVersion"] != "apiextensions.k8s.io/v1" || name == "" {
			return nil, fmt.Errorf("the %v %q is no custom resource definition", object["kind"], name)
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		all = append(all, Definition{name, text})
	}
}
