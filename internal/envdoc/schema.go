package envdoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

type object = map[string]any

// Schema is the JSON Schema of a stack file. Dir is the folder of package
// config, whose comments become the descriptions.
func Schema(dir string) ([]byte, error) {
	model, err := newModel(dir)
	if err != nil {
		return nil, err
	}
	s := schema{model: model, definitions: object{}}
	environment := s.of(reflect.TypeFor[config.Environment](), strictyaml.Field{})
	document := object{
		"$schema":              "https://json-schema.org/draft/2020-12/schema",
		"title":                "gpucluster environment",
		"description":          "A Pulumi stack file that describes an environment.",
		"type":                 "object",
		"additionalProperties": false,
		"required":             []string{"config"},
		"properties": object{
			"config": object{
				"type":       "object",
				"required":   []string{config.EnvironmentKey},
				"properties": object{config.EnvironmentKey: environment},
				"propertyNames": object{"anyOf": []any{
					object{"const": config.EnvironmentKey},
					object{"pattern": ":", "not": object{"pattern": "^" + config.Namespace}},
				}},
			},
			"encryptionsalt":  pulumis("text", "string"),
			"secretsprovider": pulumis("text", "string"),
			"encryptedkey":    pulumis("text", "string"),
			"environment":     object{"description": "Pulumi's own: environments of Pulumi ESC."},
		},
		"$defs": s.definitions,
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("writing the schema: %w", err)
	}
	return out.Bytes(), nil
}

func pulumis(what, kind string) object {
	return object{"type": kind, "description": "Pulumi's own " + what + ", written by it."}
}

type schema struct {
	*model
	definitions object
}

// of is the schema of a type; field carries the bounds of the field it is in.
func (s *schema) of(t reflect.Type, field strictyaml.Field) object {
	switch t {
	case reflect.TypeFor[config.Size]():
		return object{"type": "string", "pattern": "^[0-9]+(MiB|GiB|TiB)$"}
	case reflect.TypeFor[config.Secret]():
		return object{
			"type": "object", "additionalProperties": false, "required": []string{"secure"},
			"properties": object{"secure": object{"type": "string"}},
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), field)
	case reflect.Struct:
		if _, ok := s.definitions[t.Name()]; !ok {
			s.definitions[t.Name()] = nil // stops a type that holds itself
			s.definitions[t.Name()] = s.structure(t)
		}
		return object{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem(), field)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem(), field)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return bounded(object{"type": "integer"}, field)
	case reflect.Float64:
		return bounded(object{"type": "number"}, field)
	case reflect.String:
		return bounded(object{"type": "string"}, field)
	default:
		panic("envdoc: no schema for " + t.String())
	}
}

func (s *schema) structure(t reflect.Type) object {
	properties := object{}
	required := []string{}
	for _, field := range strictyaml.Fields(t) {
		property := maps.Clone(s.of(field.Type, field))
		if doc := s.field(t, field); doc != "" {
			property["description"] = strings.ReplaceAll(doc, "`", "")
		}
		if field.Required {
			required = append(required, field.Name)
			if property["type"] == "array" {
				property["minItems"] = 1
			}
		}
		properties[field.Name] = property
	}
	out := object{"type": "object", "additionalProperties": false, "properties": properties, "description": s.typeDoc(t)}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// bounded adds what the check tag says.
func bounded(to object, field strictyaml.Field) object {
	for part := range strings.SplitSeq(field.Tag.Get("check"), ",") {
		key, text, _ := strings.Cut(part, "=")
		switch key {
		case "enum":
			to["enum"] = strings.Split(text, "|")
		case "min", "max":
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				panic("envdoc: bad check tag of " + field.GoName)
			}
			to[map[string]string{"min": "minimum", "max": "maximum"}[key]] = n
		}
	}
	return to
}
