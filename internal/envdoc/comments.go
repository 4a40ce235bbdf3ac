// Package envdoc describes the environment file from the Go types that read
// it: [Schema] for editors, [Markdown] for people. Both take their words from
// the doc comments of package config, so that there is one place to say what a
// key means.
package envdoc

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// comments are the doc comments of a package's types.
type comments struct {
	types  map[string]string            // by type
	fields map[string]map[string]string // by type, then field
	values map[string][]value           // constants, by their type
}

// value is a constant of a string type.
type value struct{ text, doc string }

// readComments parses the Go files of a folder, tests left out.
func readComments(dir string) (*comments, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("reading Go comments: no Go files in %s", dir)
	}
	c := &comments{types: map[string]string{}, fields: map[string]map[string]string{}, values: map[string][]value{}}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("reading Go comments: %w", err)
		}
		for _, declaration := range parsed.Decls {
			if general, ok := declaration.(*ast.GenDecl); ok {
				c.declaration(general)
			}
		}
	}
	return c, nil
}

func (c *comments) declaration(general *ast.GenDecl) {
	for _, spec := range general.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil {
				doc = general.Doc
			}
			c.types[s.Name.Name] = oneLine(doc.Text())
			if structure, ok := s.Type.(*ast.StructType); ok {
				c.fields[s.Name.Name] = structFields(structure)
			}
		case *ast.ValueSpec:
			named, ok := s.Type.(*ast.Ident)
			if !ok || len(s.Values) != 1 {
				continue
			}
			if literal, ok := s.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					c.values[named.Name] = append(c.values[named.Name], value{text, withoutName(oneLine(s.Doc.Text()), s.Names[0].Name)})
				}
			}
		}
	}
}

// structFields reads the comments of fields. One directly below another and
// without a comment shares the one above.
func structFields(structure *ast.StructType) map[string]string {
	out := map[string]string{}
	previous := ""
	for _, field := range structure.Fields.List {
		if field.Doc != nil {
			previous = oneLine(field.Doc.Text())
		}
		for _, name := range field.Names {
			out[name.Name] = previous
		}
	}
	return out
}

// oneLine joins the lines of a comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// saying is how a comment goes on after the name: "is the number of …",
// "names an entry of …". What does not go on so reads badly without the name.
var saying = regexp.MustCompile(`^(?:is |are |means that |means )|^[a-z]+s `)

// withoutName drops the Go name that a comment begins with.
func withoutName(doc, name string) string {
	rest, ok := strings.CutPrefix(doc, name+" ")
	if !ok || !saying.MatchString(rest) {
		return doc
	}
	for _, verb := range []string{"is ", "are ", "means that ", "means "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return sentence(rest)
}

// sentence gives text a capital.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
