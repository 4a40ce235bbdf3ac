package main

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

const want = `command:local:Command machines-accounting (parent machines)
command:local:Command machines-controller (parent machines)
command:local:Command machines-ctl1-baseline (parent machines)
command:local:Command machines-ctl1-login (parent machines)
command:local:Command machines-database (parent machines)
command:local:Command machines-gate (parent machines)
command:local:Command machines-gpu1 (parent slurm-on-machines-s)
command:local:Command machines-gpu1-baseline (parent machines)
command:local:Command machines-gpu2 (parent slurm-on-machines-s)
command:local:Command machines-gpu2-baseline (parent machines)
command:local:Command machines-guard (parent machines)
command:local:Command machines-keys (parent machines)
command:local:Command machines-owner (parent machines)
command:local:Command machines-smoke (parent machines)
gpucluster:hosts:Hosts machines (parent slurm-on-machines-s)
gpucluster:slurm:Cluster machines (parent slurm-on-machines-s)
pulumi:pulumi:StackReference organization/machines/prod (parent )
`

// run runs the program beside a stack with these machines.
func run(machines map[string]any) (*pulumitest.Recorder, error) {
	r := &pulumitest.Recorder{Stacks: map[string]resource.PropertyMap{
		"organization/machines/prod": resource.NewPropertyMapFromMap(map[string]any{"machines": machines, "privateKey": "a-private-key"}),
	}}
	return r, r.Run("s", build, func(info *pulumi.RunInfo) {
		info.Project = "slurm-on-machines"
		info.Config = map[string]string{"slurm-on-machines:machines": "organization/machines/prod"}
	})
}

func machine(address string) map[string]any {
	return map[string]any{"id": "i-" + address, "address": address, "hostKey": "ssh-ed25519 AAAA"}
}

func TestInventory(t *testing.T) {
	r, err := run(map[string]any{"ctl1": machine("192.0.2.10"), "gpu1": machine("192.0.2.11"), "gpu2": machine("192.0.2.12")})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Inventory(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	gpu2 := r.Command("machines-gpu2-baseline")
	for entry, want := range map[string]string{
		"GPUCLUSTER_TARGETS":        `"address": "192.0.2.12"`,
		"GPUCLUSTER_INSTANCES":      "gpu2=i-192.0.2.12",
		"GPUCLUSTER_NAMES":          "192.0.2.10 ctl1\n192.0.2.11 gpu1\n192.0.2.12 gpu2",
		"GPUCLUSTER_SECRET_SSH_KEY": "a-private-key",
	} {
		if got := pulumitest.Entry(gpu2, entry); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", entry, got, want)
		}
	}
}

// TestMissingMachine checks that a machine that the other stack has not made is
// named.
func TestMissingMachine(t *testing.T) {
	_, err := run(map[string]any{"ctl1": machine("192.0.2.10"), "gpu1": machine("192.0.2.11")})
	if err == nil || !strings.Contains(err.Error(), "stack organization/machines/prod has no output machines.gpu2.") {
		t.Errorf("error %v", err)
	}
}
