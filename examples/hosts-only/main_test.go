package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// stackConfig gives the program the hosts of Pulumi.example.yaml, as the
// engine would.
func stackConfig(t *testing.T) pulumi.RunOption {
	t.Helper()
	content, err := os.ReadFile("Pulumi.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Config map[string]any
	}
	if err := yaml.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	hosts, err := json.Marshal(file.Config["hosts-only:hosts"])
	if err != nil {
		t.Fatal(err)
	}
	return func(info *pulumi.RunInfo) {
		info.Project = "hosts-only"
		info.Config = map[string]string{"hosts-only:hosts": string(hosts)}
	}
}

const want = `command:local:Command prepared-gate (parent hosts-only-s)
command:local:Command prepared-gpu1-baseline (parent prepared)
command:local:Command prepared-gpu2-baseline (parent prepared)
command:local:Command prepared-owner (parent prepared)
gpucluster:hosts:Hosts prepared (parent hosts-only-s)
`

func TestInventory(t *testing.T) {
	r := pulumitest.Run(t, "s", build, stackConfig(t))
	if got := r.Inventory(); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	targets := pulumitest.Entry(r.Command("prepared-gpu2-baseline"), "GPUCLUSTER_TARGETS")
	if !strings.Contains(targets, `"address": "192.0.2.12"`) || strings.Contains(targets, "192.0.2.11") {
		t.Errorf("gpu2 is reached by %s", targets)
	}
}

// TestNoHosts checks that an empty inventory is refused before anything is
// registered.
func TestNoHosts(t *testing.T) {
	r := &pulumitest.Recorder{}
	err := r.Run("s", build, func(info *pulumi.RunInfo) {
		info.Project = "hosts-only"
		info.Config = map[string]string{"hosts-only:hosts": "[]"}
	})
	if err == nil || len(r.Resources()) > 0 {
		t.Errorf("error %v after registering:\n%s", err, r.Inventory())
	}
}
