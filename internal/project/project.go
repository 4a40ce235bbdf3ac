// Package project finds the checkout in which a program runs.
package project

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrNone says that no folder from the current one upwards is a project.
var ErrNone = errors.New("no Pulumi.yaml with a stacks folder here or above")

// Root is the nearest folder, from the current one upwards, that holds a Pulumi
// project with stacks; relative to the current one, so that messages stay short.
func Root() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	for at := here; ; at = filepath.Dir(at) {
		if isRoot(at) {
			return filepath.Rel(here, at)
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("finding the project: %w", ErrNone)
		}
	}
}

// StackFile is the file of a named environment, below the root.
func StackFile(name string) string { return filepath.Join("stacks", "Pulumi."+name+".yaml") }

func isRoot(dir string) bool {
	for _, name := range []string{"Pulumi.yaml", "stacks"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}
