package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	p "github.com/pulumi/pulumi-go-provider"
)

var update = flag.Bool("update", false, "write testdata/schema.golden.json from the upstream schema")

const golden = "testdata/schema.golden.json"

// upstream is the schema of the real plugin, kept beside a checkout; it is not part of the product.
var upstream = filepath.Join("..", "..", "..", "shared", "data", "pulumi-command-v1.2.1-schema.json")

// parity reduces a schema to what must be the same in both plugins: the names, types and marks of the properties of
// what both offer. The wording is each plugin's own.
func parity(t *testing.T, schema []byte) string {
	t.Helper()
	var all map[string]map[string]any
	var loose map[string]json.RawMessage
	if err := json.Unmarshal(schema, &loose); err != nil {
		t.Fatal(err)
	}
	all = map[string]map[string]any{}
	for section, token := range map[string]string{
		"resources": "command:local:Command",
		"functions": "command:local:run",
		"types":     "command:local:Logging",
	} {
		var members map[string]any
		if err := json.Unmarshal(loose[section], &members); err != nil {
			t.Fatalf("section %s: %v", section, err)
		}
		all[section] = map[string]any{token: withoutWords(members[token], "")}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

// withoutWords drops descriptions, the names of enumeration values (upstream leaves them out when they are the value)
// and the order of required properties.
func withoutWords(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range value {
			_, isText := member.(string)
			if name == "description" && isText || name == "name" && key == "enum" {
				continue
			}
			out[name] = withoutWords(member, name)
		}
		return out
	case []any:
		if key == "required" {
			set := map[string]any{}
			for _, member := range value {
				set[member.(string)] = true
			}
			return set
		}
		out := make([]any, len(value))
		for i, member := range value {
			out[i] = withoutWords(member, key)
		}
		return out
	default:
		return value
	}
}

func TestSchemaIsUpstreams(t *testing.T) {
	response, err := newEngine(t).server.GetSchema(p.GetSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := parity(t, []byte(response.Schema)); got != string(want) {
		t.Errorf("the schema differs from %s:\n%s", golden, got)
	}
}

func TestGoldenSchemaIsFromUpstream(t *testing.T) {
	schema, err := os.ReadFile(upstream)
	if os.IsNotExist(err) {
		t.Skipf("the upstream schema is not on this machine (%s)", upstream)
	}
	if err != nil {
		t.Fatal(err)
	}
	got := parity(t, schema)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from the upstream schema:\n%s", golden, got)
	}
}
