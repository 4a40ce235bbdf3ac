package strictyaml

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Field is a field of a struct that a key stands for.
type Field struct {
	// Name is the key.
	Name string
	// Index of the field in the struct.
	Index int
	// Required says that the key may not be left out.
	Required bool
	// Type of the field and its other tags.
	Type reflect.Type
	Tag  reflect.StructTag
	// GoName is the field's name in Go.
	GoName string
}

// Fields lists the fields of a struct type that have a yaml tag, in order. A
// field is required unless its tag says omitempty.
func Fields(t reflect.Type) []Field {
	var out []Field
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		out = append(out, Field{
			Name: name, Index: i, Type: f.Type, Tag: f.Tag, GoName: f.Name,
			Required: !strings.Contains(options, "omitempty"),
		})
	}
	return out
}

// isNull reports a key with nothing after it, or an explicit null.
func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null"
}

func tagFits(tag string, kind reflect.Kind) bool {
	switch kind {
	case reflect.Bool:
		return tag == "!!bool"
	case reflect.Int, reflect.Int64:
		return tag == "!!int"
	case reflect.Float64:
		return tag == "!!int" || tag == "!!float"
	default:
		return tag == "!!str"
	}
}

func (d *decoder) wrongType(key, node *yaml.Node, path string, t reflect.Type) {
	if isNull(node) {
		d.noValue(key, node, path, t)
		return
	}
	d.report(node, WrongType, path, fmt.Sprintf("needs %s, found %s", name(t), describe(node)), typeHint(node, t))
}

// noValue reports a null; at its key, since nothing is where the value goes.
func (d *decoder) noValue(key, node *yaml.Node, path string, t reflect.Type) {
	at := node
	if key != nil {
		at = key
	}
	hint := "write a value, or remove the key"
	if t.Kind() == reflect.Struct && !isText(t) {
		hint = "write {} for the defaults, or remove the key"
	}
	d.report(at, WrongType, path, fmt.Sprintf("has no value, needs %s", name(t)), hint)
}

var textType = reflect.TypeFor[encoding.TextUnmarshaler]()

func isText(t reflect.Type) bool { return reflect.PointerTo(t).Implements(textType) }

// name says in words what a type takes.
func name(t reflect.Type) string {
	if isText(t) {
		return "text"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return name(t.Elem())
	case reflect.Struct:
		return "a mapping"
	case reflect.Map:
		return "a mapping"
	case reflect.Slice:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	default:
		return "text"
	}
}

// describe says in words what a node is.
func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch node.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!bool":
		return "the boolean " + node.Value
	case "!!int", "!!float":
		return "the number " + node.Value
	case "!!timestamp":
		return "the date " + node.Value
	case "!!str":
		return fmt.Sprintf("text %q", clip(node.Value))
	default:
		return "a value of type " + node.ShortTag()
	}
}

func typeHint(node *yaml.Node, t reflect.Type) string {
	scalar := node.Kind == yaml.ScalarNode
	switch {
	case scalar && t.Kind() == reflect.String && node.ShortTag() != "!!str":
		return fmt.Sprintf("put it in quotes: %q", node.Value)
	case scalar && t.Kind() == reflect.Slice:
		return "write a list: [" + clip(node.Value) + "]"
	case t.Kind() == reflect.Bool:
		return "write true or false, without quotes"
	case scalar && node.ShortTag() == "!!str" && (node.Style == yaml.DoubleQuotedStyle || node.Style == yaml.SingleQuotedStyle) &&
		(t.Kind() == reflect.Int || t.Kind() == reflect.Int64 || t.Kind() == reflect.Float64):
		return "write the number without quotes"
	case node.Kind == yaml.MappingNode && t.Kind() == reflect.Slice:
		return "begin each item with \"- \""
	}
	return ""
}

// clip shortens a value for a message.
func clip(s string) string {
	const limit = 60
	if r := []rune(s); len(r) > limit {
		return string(r[:limit-3]) + "..."
	}
	return s
}
