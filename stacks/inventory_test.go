package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
)

var update = flag.Bool("update", false, "write the golden files anew")

// recorder stands in for the engine: it keeps what is registered, and answers
// as the steps would.
type recorder struct {
	mu        sync.Mutex
	resources []pulumi.MockResourceArgs
}

func (r *recorder) NewResource(args pulumi.MockResourceArgs) (string, resource.PropertyMap, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resources = append(r.resources, args)
	outputs := args.Inputs.Copy()
	if args.TypeToken == "command:local:Command" {
		outputs["stdout"] = resource.NewStringProperty(answer(args.Inputs["create"].StringValue()))
	}
	return args.Name + "-id", outputs, nil
}

func (r *recorder) Call(pulumi.MockCallArgs) (resource.PropertyMap, error) {
	return resource.PropertyMap{}, nil
}

// answer is a result that the step of the command could give.
func answer(command string) string {
	name, _ := step.NameOf(command)
	switch name {
	case "lab-key":
		return `{"private":"a-private-key","public":"ssh-ed25519 AAAA"}`
	case "lab-host":
		return `{"name":"h","address":"192.0.2.1","hostKey":"ssh-ed25519 BBBB"}`
	case "lab-network":
		return `{"name":"n","subnet":"192.0.2.0/24"}`
	case "slurm-keys":
		return `{"munge":"a-munge-key","database":"a-password"}`
	}
	return `{"host":"h","status":"ready"}`
}

func run(t *testing.T, stack string) *recorder {
	t.Helper()
	r := &recorder{}
	if err := pulumi.RunErr(build, pulumi.WithMocks("gpucluster", stack, r), secretConfig(stack)); err != nil {
		t.Fatal(err)
	}
	return r
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
	for _, stack := range []string{"lab-slurm", "example-onprem"} {
		t.Run(stack, func(t *testing.T) {
			r := run(t, stack)
			var lines []string
			for _, args := range r.resources {
				parent := args.RegisterRPC.GetParent()
				parent = parent[strings.LastIndex(parent, "::")+len("::"):]
				lines = append(lines, fmt.Sprintf("%s %s (parent %s)", args.TypeToken, args.Name, parent))
			}
			sort.Strings(lines)
			golden(t, stack+".inventory", strings.Join(lines, "\n")+"\n")
		})
	}
}

// TestEveryStepIsKnown checks that each resource runs a step that exists.
func TestEveryStepIsKnown(t *testing.T) {
	registry := steps.All()
	for _, args := range run(t, "lab-slurm").resources {
		if args.TypeToken != "command:local:Command" {
			continue
		}
		name, ok := step.NameOf(args.Inputs["create"].StringValue())
		if _, known := registry.Find(name); !ok || !known {
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
	clear := []string{"a-private-key", "a-munge-key", "a-password", "a-site-key", "c2l0ZQ==", "site-password"}
	for _, stack := range []string{"lab-slurm", "example-onprem"} {
		for _, args := range run(t, stack).resources {
			for property, value := range args.Inputs {
				text := plainText(value)
				for _, secret := range clear {
					if strings.Contains(text, secret) {
						t.Errorf("%s: %s %s holds %q in clear", stack, args.Name, property, secret)
					}
				}
			}
		}
	}
}

// plainText writes a value without what is secret in it.
func plainText(v resource.PropertyValue) string {
	switch {
	case v.IsSecret(), v.IsOutput() && v.OutputValue().Secret:
		return ""
	case v.IsObject():
		var b strings.Builder
		for _, child := range v.ObjectValue() {
			b.WriteString(plainText(child) + "\n")
		}
		return b.String()
	case v.IsArray():
		var b strings.Builder
		for _, child := range v.ArrayValue() {
			b.WriteString(plainText(child) + "\n")
		}
		return b.String()
	case v.IsString():
		return v.StringValue()
	}
	return ""
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
