package config

import (
	"os"
	"path/filepath"
	"testing"
)

// Every environment file of the project is without a problem.
func TestStacksLoad(t *testing.T) {
	files, err := filepath.Glob("../stacks/Pulumi.*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no stack files", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		env, report := Load(file, content)
		if env == nil || len(report.Problems) > 0 {
			t.Errorf("%s", report)
		}
	}
}
