package project

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestRoot(t *testing.T) {
	root := t.TempDir()
	below := filepath.Join(root, "examples", "one")
	for _, dir := range []string{filepath.Join(root, "stacks"), below} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// An example has a Pulumi.yaml of its own, but no stacks.
	for _, dir := range []string{root, below} {
		if err := os.WriteFile(filepath.Join(dir, "Pulumi.yaml"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{root: ".", filepath.Join(root, "stacks"): "..", below: "../.."} {
		t.Chdir(dir)
		if got, err := Root(); err != nil || got != want {
			t.Errorf("in %s: %q, %v, want %q", dir, got, err, want)
		}
	}
	t.Chdir(t.TempDir())
	if got, err := Root(); !errors.Is(err, ErrNone) {
		t.Errorf("outside of a project: %q, %v", got, err)
	}
}
