package main

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
)

var update = flag.Bool("update", false, "write the golden files anew")

func run(t *testing.T, stack string) *pulumitest.Recorder {
	t.Helper()
	return pulumitest.Run(t, stack, build, secretConfig(stack))
}

// secretConfig gives the secrets of an environment file as the engine would.
func secretConfig(stack string) pulumi.RunOption {
	return func(info *pulumi.RunInfo) {
		if stack == "example-onprem" {
			info.Config = map[string]string{
				"gpucluster:environment": `{"inventory":{"ssh":{"privateKey":"a-site-key"}},"slurm":{"mungeKey":"c2l0ZQ==","database":{"mariadb":{"password":"site-password"}}}}`,
			}
		}
	}
}

// TestInventory pins the URNs of an environment: a changed type, name or
// parent would delete and make anew what users have.
func TestInventory(t *testing.T) {
	for _, stack := range []string{"lab-slurm", "example-onprem", "lab-kubernetes", "example-onprem-kubernetes"} {
		t.Run(stack, func(t *testing.T) {
			golden(t, stack+".inventory", run(t, stack).Inventory())
		})
	}
}

// TestEveryStepIsKnown checks that each resource runs a step that exists.
func TestEveryStepIsKnown(t *testing.T) {
	registry := steps.All()
	commands := run(t, "lab-slurm").Commands()
	maps.Copy(commands, run(t, "lab-kubernetes").Commands())
	for _, args := range commands {
		name := pulumitest.Step(args)
		if _, known := registry.Find(name); !known {
			t.Errorf("%s runs %q, which is no step", args.Name, args.Inputs["create"].StringValue())
		}
		if remove := args.Inputs["delete"].StringValue(); remove != step.RemoveCommand(name) {
			t.Errorf("%s removes with %q, want %q", args.Name, remove, step.RemoveCommand(name))
		}
		if args.Inputs["triggers"].HasValue() {
			t.Errorf("%s has triggers, which replace it instead of updating it", args.Name)
		}
	}
}

// TestSecretsAreSecret checks that no input holds a secret in clear.
func TestSecretsAreSecret(t *testing.T) {
	clear := append([]string{"a-site-key", "c2l0ZQ==", "site-password"}, pulumitest.Secrets...)
	for _, stack := range []string{"lab-slurm", "example-onprem", "lab-kubernetes"} {
		for _, args := range run(t, stack).Resources() {
			for property, value := range args.Inputs {
				text := pulumitest.Clear(value)
				for _, secret := range clear {
					if strings.Contains(text, secret) {
						t.Errorf("%s: %s %s holds %q in clear", stack, args.Name, property, secret)
					}
				}
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if the change is meant, run the test with -update\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}
