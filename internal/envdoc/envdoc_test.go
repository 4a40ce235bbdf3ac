package envdoc

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

const configDir = "../../config"

// What lies in the repository is what the types say now.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	for file, make := range Files {
		want, err := make(configDir)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is out of date: run go generate ./config", file)
		}
	}
}

func TestGenerationIsStable(t *testing.T) {
	for file, make := range Files {
		first, err := make(configDir)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			if again, _ := make(configDir); !bytes.Equal(first, again) {
				t.Errorf("%s differs from one run to the next", file)
			}
		}
	}
}

func TestMissingFolder(t *testing.T) {
	for file, make := range Files {
		if _, err := make(t.TempDir()); err == nil {
			t.Errorf("%s: no error without Go files", file)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := Schema(configDir)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("environment.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("environment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, file string) error {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(content, &document); err != nil {
		return err
	}
	return schema.Validate(document)
}

// Every environment file is good for editors too, and tells them so.
func TestStacksFollowTheSchema(t *testing.T) {
	schema := compiled(t)
	files, err := filepath.Glob("../../stacks/Pulumi.*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no stack files", err)
	}
	for _, file := range files {
		if err := validate(t, schema, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		content, _ := os.ReadFile(file)
		if !strings.HasPrefix(string(content), "# yaml-language-server: $schema=environment.schema.json\n") {
			t.Errorf("%s does not begin with a reference to the schema", file)
		}
	}
}

// Editors mark what is wrong with a single value; what needs the whole file,
// they cannot.
func TestSchemaRefuses(t *testing.T) {
	schema := compiled(t)
	for _, name := range []string{
		"unknown-keys", "wrong-types", "keys-without-value", "size-without-unit", "missing-everything", "missing-in-items",
		"unknown-words", "impossible-hardware", "plain-secrets", "secure-with-more", "other-project-key", "unknown-top-level-key",
		"config-missing", "no-environment", "environment-is-text", "whole-environment-secret", "preemption", "identity-ids",
	} {
		if err := validate(t, schema, filepath.Join(configDir, "testdata/bad", name+".yaml")); err == nil {
			t.Errorf("the schema accepts %s", name)
		}
	}
}

// No key goes without an explanation.
func TestEveryKeyIsExplained(t *testing.T) {
	page, err := Markdown(configDir)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") && len(strings.TrimSpace(cells[len(cells)-2])) < 5 {
			t.Errorf("not explained: %s", line)
		}
	}
	if strings.Contains(string(page), "\x00") {
		t.Error("a reference was lost")
	}
}

func TestReadComments(t *testing.T) {
	dir := t.TempDir()
	source := `package p
// Thing is a thing
// of two lines.
type Thing struct {
	// A is the first.
	A, B int
	C    int

	// D ends it.
	D string
}
// Colour of a thing.
type Colour string
const (
	// Red is warm.
	Red Colour = "red"
	Blue Colour = "blue"
)
`
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := readComments(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.types["Thing"] != "Thing is a thing of two lines." {
		t.Errorf("type: %q", c.types["Thing"])
	}
	for field, want := range map[string]string{"A": "A is the first.", "B": "A is the first.", "C": "A is the first.", "D": "D ends it."} {
		if got := c.fields["Thing"][field]; got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
	if want := []value{{"red", "Warm."}, {"blue", ""}}; !slices.Equal(c.values["Colour"], want) {
		t.Errorf("constants: %v", c.values["Colour"])
	}
}

// TestMeaningsBeginAsSentences checks that no meaning begins with a key, or with
// a name of Go: a comment whose first word stays is written so that it reads as
// one.
func TestMeaningsBeginAsSentences(t *testing.T) {
	text, err := Markdown(configDir)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([A-Za-z]+)`(?: \\*)? \\|.*?[^\\\\]\\| (\\S+)").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 100 {
		t.Fatalf("only %d keys were found", len(rows))
	}
	name := regexp.MustCompile(`[a-z][A-Z]|_|^QOS$`)
	for _, row := range rows {
		if first := row[2]; strings.HasPrefix(first, "`") || name.MatchString(first) {
			t.Errorf("the meaning of %s begins with %s", row[1], first)
		}
	}
}
