package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever the file holds, Load does not panic, every problem has a position
// within the file, and an environment comes back only without errors.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	stacks, _ := filepath.Glob("../stacks/Pulumi.*.yaml")
	for _, file := range append(files, stacks...) {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, text string) {
		env, report := Load("f.yaml", []byte(text))
		if (env == nil) != report.Failed() {
			t.Fatalf("environment %v, but failed is %v", env != nil, report.Failed())
		}
		lines := strings.Count(text, "\n") + 1
		for _, p := range report.Problems {
			if p.Line < 1 || p.Line > lines+1 || p.Column < 1 || p.What == "" || p.Kind == "" || p.File != "f.yaml" {
				t.Errorf("not placed: %+v", p)
			}
		}
		if report.String() == "" && report.Failed() {
			t.Error("errors, but no report")
		}
		if env != nil {
			for _, p := range env.Validate() {
				if !p.Warning() {
					t.Errorf("loaded, but then found wrong: %s", p)
				}
			}
			env.SlurmCluster()
		}
	})
}
