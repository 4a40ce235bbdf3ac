package envdoc

import (
	"reflect"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/strictyaml"
)

// model is the types with their comments.
type model struct {
	*comments
	keys map[string]string // Go names of fields and types to keys
}

func newModel(dir string) (*model, error) {
	c, err := readComments(dir)
	if err != nil {
		return nil, err
	}
	m := &model{comments: c, keys: map[string]string{"Environment": "environment"}}
	m.collect(reflect.TypeFor[config.Environment]())
	return m, nil
}

// collect learns the keys of a type's fields, and of a type the key that
// leads to it.
func (m *model) collect(t reflect.Type) {
	for _, field := range strictyaml.Fields(t) {
		m.keys[field.GoName] = field.Name
		inner := element(field.Type)
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[config.Secret]() {
			m.collect(inner)
		}
	}
}

// element is the type of a list's items, a mapping's values or a pointer's
// target.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// field is the comment of a field in terms of keys.
func (m *model) field(t reflect.Type, field strictyaml.Field) string {
	return inKeys(withoutName(m.fields[t.Name()][field.GoName], field.GoName), t, m.keys)
}

// typeDoc is the comment of a type, without its name.
func (m *model) typeDoc(t reflect.Type) string {
	return withoutName(m.types[t.Name()], t.Name())
}

// Files are the generated files, by their path in the repository.
var Files = map[string]func(dir string) ([]byte, error){
	"stacks/environment.schema.json": Schema,
	"docs/environment.md":            Markdown,
}
