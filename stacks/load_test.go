package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestNameOfStack checks that no two stacks can own the same hosts: neither a
// copied file nor one that another stack is pointed at is taken.
func TestNameOfStack(t *testing.T) {
	content, err := os.ReadFile("Pulumi.lab-slurm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"Pulumi.mine.yaml":      "hint: write name: mine, or call the file Pulumi.lab-slurm.yaml",
		"Pulumi.lab-slurm.yaml": "hint: select the stack lab-slurm, or give a file Pulumi.mine.yaml",
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(fileVariable, file)
		r := &pulumitest.Recorder{}
		err := r.Run("mine", build)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
		if len(r.Resources()) > 0 {
			t.Errorf("%s: registered before it was refused:\n%s", name, r.Inventory())
		}
	}
}
