// Package examples holds programs that use the toolkit's components; each has
// a test of its own. The test here judges them all.
package examples

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnlyPublicPackages checks that an example imports nothing that a program
// elsewhere could not.
func TestOnlyPublicPackages(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		judged++
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range file.Imports {
			if strings.Contains(imported.Path.Value, "/internal/") {
				t.Errorf("%s imports %s", name, imported.Path.Value)
			}
		}
	}
	if judged == 0 {
		t.Error("there is no example")
	}
}

// TestEachIsComplete checks that each example can be found, run and trusted.
func TestEachIsComplete(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		files := []string{"Pulumi.yaml", "README.md", "main.go", "main_test.go"}
		if _, err := os.Stat(filepath.Join(entry.Name(), "kustomization.yaml")); err == nil {
			files = []string{"README.md"} // manifests, which internal/queues tries
		}
		for _, name := range files {
			if _, err := os.Stat(filepath.Join(entry.Name(), name)); err != nil {
				t.Error(err)
			}
		}
	}
}
