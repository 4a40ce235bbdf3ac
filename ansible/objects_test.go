package ansible

import (
	"os"
	"path/filepath"
	"testing"
)

// TestKubeObjects checks that a file is applied again where the API server starts
// again meanwhile, and that what else fails is said at once.
func TestKubeObjects(t *testing.T) {
	folder := t.TempDir()
	// kubectl answers by turns: each call takes the next line of its script.
	kubectl := func(name, turns string) map[string]any {
		program := filepath.Join(folder, name)
		write(t, folder, name+".turns", turns)
		write(t, folder, name, "#!/bin/sh\nturn=$(head -n 1 "+program+".turns)\nsed -i 1d "+program+".turns\neval \"$turn\"\n")
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
		return map[string]any{"paths": []string{"objects.yaml"}, "kubectl": program}
	}
	const module = "gpucluster.host.kube_objects"
	const ready, refused, applied = "echo ok\n", "echo a changed; echo 'dial tcp: connection refused' >&2; exit 1\n", "echo a unchanged; echo b created\n"
	const forbidden = "echo 'nodes is forbidden' >&2; exit 1\n"
	runLocally(t, []task{
		{name: "nothing to do", module: module, want: "ok", args: kubectl("calm", ready+"echo a unchanged\n")},
		{name: "away meanwhile", module: module, want: "changed", args: kubectl("away", ready+refused+refused+ready+applied), changes: []string{"a changed", "b created"}},
		{name: "not ready yet", module: module, want: "changed", args: kubectl("early", ready+forbidden+refused+ready+applied), changes: []string{"b created"}},
		{name: "not allowed", module: module, want: "failed", args: kubectl("never", ready+forbidden+ready), says: []string{"objects.yaml: nodes is forbidden"}},
	})
}
