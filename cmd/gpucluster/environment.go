package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/project"
	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
)

// loadEnvironment reads the environment that an argument names: a name means
// stacks/Pulumi.<name>.yaml of the project around the current folder, anything
// with a slash or ending in .yaml is a path. The error of a bad environment is
// its report.
func loadEnvironment(argument string) (*config.Environment, *config.Report, error) {
	file := argument
	if !isPath(argument) {
		var err error
		if file, err = stackFile(argument); err != nil {
			return nil, nil, err
		}
	}
	content, err := project.ReadStackFile(file)
	if err != nil {
		return nil, nil, err
	}
	env, report := config.Load(file, content)
	return env, report, report.Err()
}

// oneEnvironment takes one argument, and lists the environments where it is
// missing.
func oneEnvironment(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return cobra.ExactArgs(1)(cmd, args)
	}
	hint := "give the path of its file"
	if root, err := project.Root(); err == nil {
		hint = "there are: " + strings.Join(environmentNames(root), ", ")
	}
	return fmt.Errorf("which environment?\n  hint: %s", hint)
}

func isPath(argument string) bool {
	return strings.ContainsRune(argument, filepath.Separator) || strings.HasSuffix(argument, ".yaml")
}

// stackFile finds the file of a named environment.
func stackFile(name string) (string, error) {
	root, err := project.Root()
	if errors.Is(err, project.ErrNone) {
		return "", fmt.Errorf("%w\n  hint: run it within the project, or give the path of the file", err)
	}
	if err != nil {
		return "", err
	}
	file := filepath.Join(root, project.StackFile(name))
	if _, err := os.Stat(file); err == nil {
		return file, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("finding the environment: %w", err)
	}
	names := environmentNames(root)
	if meant := suggest.Closest(name, names); meant != "" {
		return "", fmt.Errorf("no environment %q: %s does not exist\n  hint: did you mean %q?", name, file, meant)
	}
	return "", fmt.Errorf("no environment %q: %s does not exist\n  hint: there are: %s", name, file, strings.Join(names, ", "))
}

func environmentNames(root string) []string {
	files, _ := filepath.Glob(filepath.Join(root, project.StackFile("*")))
	var names []string
	for _, file := range files {
		if name, ok := config.StackOf(file); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
