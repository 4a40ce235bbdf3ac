package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/project"
)

// fileVariable names another file to read the environment from than the
// stack's own.
const fileVariable = "GPUCLUSTER_ENVIRONMENT_FILE"

// load reads and checks the environment before any resource is registered.
// The file itself is read, so that a report can point at lines; its secrets
// come from the engine, which alone can decrypt them.
func load(ctx *pulumi.Context) (*config.Environment, error) {
	file := os.Getenv(fileVariable)
	if file == "" {
		file = project.StackFile(ctx.Stack())
	}
	path := file
	if !filepath.IsAbs(path) {
		root, err := project.Root()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(root, file)
	}
	content, err := project.ReadStackFile(path)
	if err != nil {
		return nil, err
	}
	env, report := config.Load(file, content)
	if err := report.Err(); err != nil {
		return nil, err
	}
	if env.Name != ctx.Stack() {
		return nil, fmt.Errorf("%s describes %q, and the stack is called %q: two stacks would own the same hosts\n"+
			"  hint: select the stack %[2]s, or give a file Pulumi.%[3]s.yaml", file, env.Name, ctx.Stack())
	}
	for _, warning := range report.Warnings() {
		if err := ctx.Log.Warn(warning.String(), nil); err != nil {
			return nil, err
		}
	}
	var decrypted any
	if text, ok := ctx.GetConfig("gpucluster:environment"); ok {
		if err := json.Unmarshal([]byte(text), &decrypted); err != nil {
			return nil, fmt.Errorf("reading the configuration that the engine gives: %w", err)
		}
	}
	return env, config.FillSecrets(env, decrypted)
}
