package slurmconf

import (
	"strings"
	"testing"
)

// TestDefaultMemory: a job without a wish gets a CPU's share of the host that
// has least, unless the site says how much it gets.
func TestDefaultMemory(t *testing.T) {
	c := good(V2411)
	c.Nodes[0].RealMemoryMiB = 32100 // 32 CPUs
	for name, want := range map[string]struct {
		key, value string
		lines      []string
		not        string
	}{
		"by itself":   {"", "", []string{"DefMemPerCPU=1003"}, ""},
		"other share": {"DefMemPerCPU", "500", []string{"DefMemPerCPU=500"}, "DefMemPerCPU=1003"},
		"per node":    {"DefMemPerNode", "8000", []string{"DefMemPerNode=8000"}, "DefMemPerCPU"},
		"per GPU":     {"DefMemPerGPU", "8000", []string{"DefMemPerGPU=8000"}, "DefMemPerCPU"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := c
			if want.key != "" {
				slurmExtra(want.key, want.value)(&cluster)
			}
			set, err := Render(cluster)
			if err != nil {
				t.Fatal(err)
			}
			text := set.Content("slurm.conf")
			for _, l := range want.lines {
				if !strings.Contains(text, "\n"+l+"\n") {
					t.Errorf("no line %q", l)
				}
			}
			if want.not != "" && strings.Contains(text, want.not) {
				t.Errorf("it has %q", want.not)
			}
		})
	}
}
