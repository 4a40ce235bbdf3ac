package hoststep

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// TestAHostThatCannotBeReached checks that it ends in quarantine by itself, with
// why, and that nothing goes on without one that is needed.
func TestAHostThatCannotBeReached(t *testing.T) {
	for says, want := range map[string]string{
		"ssh: connect to host h1 port 22: No route to host":   "h1: cannot be reached over SSH",
		"ssh: connect to host h1 port 22: Connection refused": "h1: cannot be reached over SSH",
		"root@h1: Permission denied (publickey).":             "h1: no login over SSH",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "ssh"), []byte("#!/bin/sh\necho '"+says+"' >&2; exit 255\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
		for _, essential := range []bool{false, true} {
			spec, err := json.Marshal(BaselineSpec{Host: "h1", Essential: essential, Environment: "e", Vars: map[string]any{}})
			if err != nil {
				t.Fatal(err)
			}
			entries := map[string]string{step.EnvTargets: `[{"name": "h1"}]`, EnvOwner: `"one"`}
			got, err := applyBaseline(context.Background(), step.NewInput(spec, func(entry string) string { return entries[entry] }, &strings.Builder{}))
			if essential {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, essential: %v, %v, want the error %q", says, got, err, want)
				}
				continue
			}
			outcome, ok := got.(step.Outcome)
			if err != nil || !ok || outcome.Status != step.StatusQuarantined || !strings.Contains(outcome.Reason, want) {
				t.Errorf("%s: %v, %v, want quarantine for %q", says, got, err, want)
			}
		}
	}
}
