package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/config"
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
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the environment: %w", err)
	}
	env, report := config.Load(file, content)
	return env, report, report.Err()
}

func isPath(argument string) bool {
	return strings.ContainsRune(argument, filepath.Separator) || strings.HasSuffix(argument, ".yaml")
}

// stackFile finds the file of a named environment.
func stackFile(name string) (string, error) {
	root, err := projectRoot()
	if err != nil {
		return "", err
	}
	file := filepath.Join(root, "stacks", "Pulumi."+name+".yaml")
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

// projectRoot is the nearest folder, from the current one upwards, that holds
// a Pulumi project with stacks; relative, so that messages stay short.
func projectRoot() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the project: %w", err)
	}
	for at := here; ; at = filepath.Dir(at) {
		if isProject(at) {
			return filepath.Rel(here, at)
		}
		if at == filepath.Dir(at) {
			return "", errors.New("finding the project: no Pulumi.yaml with a stacks folder here or above\n" +
				"  hint: run it within the project, or give the path of the file")
		}
	}
}

func isProject(dir string) bool {
	for _, name := range []string{"Pulumi.yaml", "stacks"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

func environmentNames(root string) []string {
	files, _ := filepath.Glob(filepath.Join(root, "stacks", "Pulumi.*.yaml"))
	var names []string
	for _, file := range files {
		name := strings.TrimPrefix(filepath.Base(file), "Pulumi.")
		names = append(names, strings.TrimSuffix(name, ".yaml"))
	}
	slices.Sort(names)
	return names
}
