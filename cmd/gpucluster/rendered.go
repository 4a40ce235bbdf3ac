package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// renderedFile is a file of an environment, whatever its scheduler.
type renderedFile struct {
	// name is its path below the folder that it is written to.
	name string
	// title says where it is placed.
	title         string
	mode, content string
	// isOurs tells whether a file that is there already is ours to replace.
	isOurs func(content string) bool
}

// rendered are all files of an environment.
func rendered(env *config.Environment) ([]renderedFile, error) {
	if env.Slurm == nil {
		return kubernetesFiles(env)
	}
	return slurmFiles(env)
}

func slurmFiles(env *config.Environment) ([]renderedFile, error) {
	set, err := slurmconf.Render(env.SlurmCluster())
	if err != nil {
		return nil, err
	}
	var all []renderedFile
	for _, file := range set.Files {
		var on []string
		for _, placement := range file.On {
			on = append(on, string(placement))
		}
		all = append(all, renderedFile{
			name: file.Name, mode: file.Mode, content: file.Content, isOurs: slurmconf.IsOurs,
			title: fmt.Sprintf("%s/%s (mode %s, owner %s, on %s)", set.ConfigDir, file.Name, file.Mode, file.Owner, strings.Join(on, ", ")),
		})
	}
	return all, nil
}

// kubernetesFiles are in a folder for what every host has, and one for what each
// host has of its own.
func kubernetesFiles(env *config.Environment) ([]renderedFile, error) {
	set, err := kubeconf.Render(env.KubernetesFiles())
	if err != nil {
		return nil, err
	}
	const mode = "0644"
	var all []renderedFile
	add := func(folder, on string, files []kubeconf.File) {
		for _, file := range files {
			all = append(all, renderedFile{
				name: filepath.Join(folder, file.Path), mode: mode, content: file.Content, isOurs: kubeconf.IsOurs,
				title: fmt.Sprintf("%s (mode %s, owner root, on %s)", file.Path, mode, on),
			})
		}
	}
	add("every-host", "every host", set.Node)
	for _, host := range env.AllHosts() {
		add(host.Name, host.Name, set.Own(host.Name))
	}
	return all, nil
}
