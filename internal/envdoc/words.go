package envdoc

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// goPath is a field named through its types, as in Priority.Weights.QOS.
var goPath = regexp.MustCompile(`\b[A-Z][A-Za-z]+(\.[A-Z][A-Za-z]+)+\b`)

var word = regexp.MustCompile(`[A-Za-z]+`)

// everyday are names of keys that are also words within a sentence.
var everyday = map[string]bool{"Slurm": true, "Kubernetes": true, "Default": true}

// inKeys rewrites a doc comment of a field in terms of the file's keys.
func inKeys(doc string, of reflect.Type, keys map[string]string) string {
	siblings := map[string]string{}
	for _, field := range strictyaml.Fields(of) {
		siblings[field.GoName] = field.Name
	}
	var kept []string
	doc = goPath.ReplaceAllStringFunc(doc, func(path string) string {
		parts := strings.Split(path, ".")
		for i, part := range parts {
			if key, ok := keys[part]; ok {
				parts[i] = key
			}
		}
		if parts[0] == "environment" {
			parts = parts[1:]
		}
		kept = append(kept, "`"+strings.Join(parts, ".")+"`")
		return "\x00"
	})
	first := true
	doc = word.ReplaceAllStringFunc(doc, func(w string) string {
		// The word that begins a sentence has its capital from there.
		start := first
		first = false
		if key, ok := siblings[w]; ok && !start && !everyday[w] {
			return "`" + key + "`"
		}
		return w
	})
	for _, path := range kept {
		doc = strings.Replace(doc, "\x00", path, 1)
	}
	return doc
}
