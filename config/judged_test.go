package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// Each environment of the project, with the release as the one word changed,
// gives files that this release's own slurmctld loads.
func TestStacksAreLoadedBySlurm(t *testing.T) {
	files, err := filepath.Glob("../stacks/Pulumi.*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no stack files", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if env, _ := config.Load(file, content); env != nil && env.Slurm == nil {
			continue
		}
		for _, version := range slurmconf.Supported {
			t.Run(filepath.Base(file)+"/"+version.String(), func(t *testing.T) {
				text := strings.Replace(string(content), `version: "24.11"`, `version: "`+version.String()+`"`, 1)
				env, report := config.Load(file, []byte(text))
				if env == nil {
					t.Fatal(report)
				}
				if env.Slurm.Version != version.String() {
					t.Fatalf("version %s, want %s", env.Slurm.Version, version)
				}
				set, err := slurmconf.Render(env.SlurmCluster())
				if err != nil {
					t.Fatal(err)
				}
				if verdict := judge.For(t, version).Load(t, set); !verdict.Loaded {
					t.Errorf("refused:\n%s", verdict.Log)
				}
			})
		}
	}
}
