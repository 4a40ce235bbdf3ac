package envdoc

import (
	_ "embed"
	"fmt"
	"reflect"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

//go:embed intro.md
var intro string

// Markdown is the page about the environment file. Dir is the folder of
// package config.
func Markdown(dir string) ([]byte, error) {
	m, err := newModel(dir)
	if err != nil {
		return nil, err
	}
	p := page{model: m, section: map[reflect.Type]string{}}
	p.WriteString(intro)
	p.WriteString("\n## Reference\n\nEvery key of `" + config.EnvironmentKey + "`. Required keys are marked with a star.\n")
	p.structure(reflect.TypeFor[config.Environment](), "")
	return []byte(p.String()), nil
}

type page struct {
	strings.Builder
	*model
	section map[reflect.Type]string // types described already, and under which heading
}

// structure writes the section of a type, then those of the types in it.
func (p *page) structure(t reflect.Type, path string) {
	heading := path
	if heading == "" {
		heading = "The environment"
	} else {
		heading = "`" + heading + "`"
	}
	p.section[t] = heading
	fmt.Fprintf(p, "\n### %s\n\n%s\n\n| key | value | meaning |\n|---|---|---|\n", heading, p.typeDoc(t))
	type child struct {
		t    reflect.Type
		path string
	}
	var children []child
	for _, field := range strictyaml.Fields(t) {
		star := ""
		if field.Required {
			star = " *"
		}
		fmt.Fprintf(p, "| `%s`%s | %s | %s |\n", field.Name, star, cell(valueOf(field.Type, field)), cell(p.meaning(t, field)))
		if inner := element(field.Type); described(inner) {
			children = append(children, child{inner, strictyaml.Child(path, field.Name) + suffix(field.Type)})
		}
	}
	for _, c := range children {
		if heading, ok := p.section[c.t]; ok {
			fmt.Fprintf(p, "\n### `%s`\n\nThe same keys as [%s](#%s).\n", c.path, heading, anchor(heading))
			continue
		}
		p.structure(c.t, c.path)
	}
}

func described(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[config.Secret]()
}

// suffix shows whether a section is about the items of a list or a mapping.
func suffix(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "[]"
	case reflect.Map:
		return ".<name>"
	}
	return ""
}

// meaning is the comment of a field and of the words it takes.
func (p *page) meaning(t reflect.Type, field strictyaml.Field) string {
	doc := p.field(t, field)
	var words []string
	for _, value := range p.values[element(field.Type).Name()] {
		if value.doc != "" {
			words = append(words, fmt.Sprintf("`%s`: %s", value.text, strings.TrimSuffix(value.doc, ".")))
		}
	}
	if len(words) > 0 {
		doc += " " + strings.Join(words, "; ") + "."
	}
	return doc
}

// valueOf says in words what a field takes.
func valueOf(t reflect.Type, field strictyaml.Field) string {
	switch t {
	case reflect.TypeFor[config.Size]():
		return "size, as `512GiB`"
	case reflect.TypeFor[config.Secret]():
		return "secret"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return valueOf(t.Elem(), field)
	case reflect.Struct:
		return "mapping"
	case reflect.Slice:
		return "list of " + strings.TrimPrefix(plural(valueOf(t.Elem(), field)), "one of ")
	case reflect.Map:
		return "mapping of name to " + valueOf(t.Elem(), field)
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "number" + limits(field)
	case reflect.Float64:
		return "decimal number" + limits(field)
	}
	if words, ok := bounded(object{}, field)["enum"].([]string); ok {
		return "one of `" + strings.Join(words, "`, `") + "`"
	}
	return "text"
}

func plural(what string) string {
	if what == "mapping" {
		return "mappings"
	}
	return what
}

func limits(field strictyaml.Field) string {
	b := bounded(object{}, field)
	switch {
	case b["minimum"] != nil && b["maximum"] != nil:
		return fmt.Sprintf(", %d to %d", b["minimum"], b["maximum"])
	case b["minimum"] != nil:
		return fmt.Sprintf(", at least %d", b["minimum"])
	}
	return ""
}

// cell makes text fit for a table.
func cell(text string) string { return strings.NewReplacer("|", "\\|", "<", "&lt;").Replace(text) }

// anchor is what GitHub makes of a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case strings.ContainsRune("[].<>`", r):
			return -1
		}
		return r
	}, strings.ToLower(heading))
}
