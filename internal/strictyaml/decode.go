// Package strictyaml decodes YAML nodes into Go values and reports everything
// that does not fit, not just the first thing: keys that no field has, keys
// given twice, values of the wrong type. Each problem has a line, a column and
// a path such as "slurm.partitions[1].maxTime".
//
// Fields are found by their yaml tags. A type may decode itself through
// yaml.Unmarshaler or encoding.TextUnmarshaler; an [*Error] it returns keeps
// its kind and hint. Whether a value makes sense, or is missing, is for the
// caller to judge: [Decode] also returns an [Index] of what was given where.
package strictyaml

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
)

// maxNodes bounds the values that one document may stand for, so that aliases
// of aliases cannot make a small file endless.
const maxNodes = 1 << 18

// Kind says what sort of problem it is.
type Kind string

// The kinds of problem that decoding finds.
const (
	UnknownKey Kind = "unknown-key"
	WrongType  Kind = "wrong-type"
	Duplicate  Kind = "duplicate"
	Invalid    Kind = "invalid"
)

// Problem is something in the document that does not fit the type.
type Problem struct {
	Kind Kind
	// Line and Column count from 1; the column counts characters.
	Line, Column int
	// Path of the value.
	Path string
	// What is wrong, and what to write instead.
	What, Hint string
	// Meant is the path that was probably meant by an unknown key.
	Meant string
}

// Error is what a type's own UnmarshalYAML or UnmarshalText returns to say
// more than a text.
type Error struct {
	Kind       Kind
	What, Hint string
}

func (e *Error) Error() string { return e.What }

// Decode fills the value that into points to from a node. Path is the name of
// the node in problems and in the index; empty for the top. What fits is
// filled in even when something else does not.
func Decode(node *yaml.Node, path string, into any) (Index, []Problem) {
	d := &decoder{index: Index{}}
	d.value(nil, node, path, reflect.ValueOf(into).Elem())
	return d.index, d.problems
}

type decoder struct {
	index    Index
	problems []Problem
	nodes    int
}

func (d *decoder) report(node *yaml.Node, kind Kind, path, what, hint string) {
	d.problems = append(d.problems, Problem{
		Kind: kind, Line: node.Line, Column: node.Column, Path: path, What: what, Hint: hint,
	})
}

// value decodes node into v; key is the node's key in its mapping, if any.
func (d *decoder) value(key, node *yaml.Node, path string, v reflect.Value) {
	if d.nodes++; d.nodes >= maxNodes {
		if d.nodes == maxNodes {
			d.report(node, Invalid, path, fmt.Sprintf("the document stands for more than %d values", maxNodes), "")
		}
		return
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	d.index[path] = Entry{Key: key, Value: node}
	if v.Kind() == reflect.Pointer {
		if isNull(node) {
			d.noValue(key, node, path, v.Type().Elem())
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch target := v.Addr().Interface().(type) {
	case yaml.Unmarshaler:
		d.failed(node, path, target.UnmarshalYAML(node))
		return
	case encoding.TextUnmarshaler:
		if node.Kind != yaml.ScalarNode || isNull(node) {
			d.wrongType(key, node, path, v.Type())
			return
		}
		d.failed(node, path, target.UnmarshalText([]byte(node.Value)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(key, node, path, v)
	case reflect.Map:
		d.mapping(key, node, path, v)
	case reflect.Slice:
		d.sequence(key, node, path, v)
	default:
		d.scalar(key, node, path, v)
	}
}

// failed reports the error of a type that decodes itself.
func (d *decoder) failed(node *yaml.Node, path string, err error) {
	switch e := err.(type) {
	case nil:
	case *Error:
		d.report(node, e.Kind, path, e.What, e.Hint)
	default:
		d.report(node, Invalid, path, e.Error(), "")
	}
}

func (d *decoder) structure(key, node *yaml.Node, path string, v reflect.Value) {
	if node.Kind != yaml.MappingNode {
		d.wrongType(key, node, path, v.Type())
		return
	}
	fields := Fields(v.Type())
	names := make([]string, len(fields))
	byName := map[string]int{}
	for i, field := range fields {
		names[i], byName[field.Name] = field.Name, field.Index
	}
	d.pairs(node, path, func(name string, keyNode, value *yaml.Node) {
		index, ok := byName[name]
		if !ok {
			d.unknown(keyNode, path, name, names)
			return
		}
		d.value(keyNode, value, Child(path, name), v.Field(index))
	})
}

func (d *decoder) unknown(key *yaml.Node, path, name string, names []string) {
	p := Problem{
		Kind: UnknownKey, Line: key.Line, Column: key.Column, Path: Child(path, name),
		What: fmt.Sprintf("unknown key %q", name),
	}
	switch meant := suggest.Closest(name, names); {
	case name == "<<":
		p.Hint = "merge keys are not read; write the keys out"
	case meant != "":
		p.Hint = fmt.Sprintf("did you mean %q?", meant)
		p.Meant = Child(path, meant)
	case len(names) > 0:
		p.Hint = "known keys: " + strings.Join(names, ", ")
	}
	d.problems = append(d.problems, p)
}

func (d *decoder) mapping(key, node *yaml.Node, path string, v reflect.Value) {
	if node.Kind != yaml.MappingNode {
		d.wrongType(key, node, path, v.Type())
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(node.Content)/2))
	d.pairs(node, path, func(name string, keyNode, value *yaml.Node) {
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(keyNode, value, Child(path, name), item)
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), item)
	})
}

// pairs calls do for each key of a mapping that is a word and not a repeat.
func (d *decoder) pairs(node *yaml.Node, path string, do func(name string, key, value *yaml.Node)) {
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		if key.Kind != yaml.ScalarNode {
			d.report(node.Content[i], WrongType, path, "a key must be a word, found "+describe(key), "")
			continue
		}
		if earlier, ok := first[key.Value]; ok {
			d.report(key, Duplicate, Child(path, key.Value),
				fmt.Sprintf("key %q is given twice, first in line %d", key.Value, earlier.Line), "keep one of them")
			continue
		}
		first[key.Value] = key
		do(key.Value, key, value)
	}
}

func (d *decoder) sequence(key, node *yaml.Node, path string, v reflect.Value) {
	if node.Kind != yaml.SequenceNode {
		d.wrongType(key, node, path, v.Type())
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(node.Content), len(node.Content)))
	for i, item := range node.Content {
		d.value(nil, item, Item(path, i), v.Index(i))
	}
}

func (d *decoder) scalar(key, node *yaml.Node, path string, v reflect.Value) {
	if node.Kind != yaml.ScalarNode || isNull(node) || !tagFits(node.ShortTag(), v.Kind()) {
		d.wrongType(key, node, path, v.Type())
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(node.Value)
	case reflect.Bool:
		v.SetBool(strings.EqualFold(node.Value, "true"))
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(node.Value, 10, v.Type().Bits())
		if err != nil || strconv.FormatInt(n, 10) != node.Value {
			d.report(node, Invalid, path, fmt.Sprintf("%s is not a plain decimal number", node.Value),
				"write digits only, without leading zeros, and not more than fit in 64 bits")
			return
		}
		v.SetInt(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(node.Value, 64)
		if err != nil || f-f != 0 {
			d.report(node, Invalid, path, fmt.Sprintf("%s is not a plain number", node.Value), "write it as 1.5")
			return
		}
		v.SetFloat(f)
	default:
		panic("strictyaml: cannot decode into " + v.Type().String())
	}
}
