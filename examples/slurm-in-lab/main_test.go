package main

import (
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

const want = `command:local:Command example-accounting (parent example)
command:local:Command example-controller (parent example)
command:local:Command example-ctl1-baseline (parent example)
command:local:Command example-ctl1-host (parent example)
command:local:Command example-database (parent example)
command:local:Command example-gate (parent example)
command:local:Command example-gpu1 (parent gpucluster-s)
command:local:Command example-gpu1-baseline (parent example)
command:local:Command example-gpu1-host (parent example)
command:local:Command example-gpu2 (parent gpucluster-s)
command:local:Command example-gpu2-baseline (parent example)
command:local:Command example-gpu2-host (parent example)
command:local:Command example-guard (parent example)
command:local:Command example-image (parent example)
command:local:Command example-key (parent example)
command:local:Command example-keys (parent example)
command:local:Command example-network (parent example)
command:local:Command example-owner (parent example)
command:local:Command example-smoke (parent example)
gpucluster:hosts:Hosts example (parent gpucluster-s)
gpucluster:lab:Lab example (parent gpucluster-s)
gpucluster:slurm:Cluster example (parent gpucluster-s)
`

func TestInventory(t *testing.T) {
	got := pulumitest.Run(t, "s", build).Inventory()
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

// TestEnvironment checks that nothing is left for a person to be warned of.
func TestEnvironment(t *testing.T) {
	env := environment()
	env.SetDefaults()
	for _, problem := range env.Validate() {
		t.Errorf("the example earns: %s", problem)
	}
}
