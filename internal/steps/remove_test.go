package steps

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// TestRemoveFromAHostThatCannotBeAsked checks each removal that reaches a host:
// a host that is gone has nothing left, but one that refuses the login may be at
// work, and the state must not forget it.
func TestRemoveFromAHostThatCannotBeAsked(t *testing.T) {
	for _, one := range append(hoststep.Steps(), slurmstep.Steps()...) {
		if one.Remove == nil {
			continue
		}
		for says, want := range map[string]string{
			"ssh: connect to host h1 port 22: No route to host":   "",
			"root@h1: Permission denied (publickey).":             "h1: no login over SSH",
			"Host key verification failed.":                       "h1: no login over SSH",
			"ssh: connect to host h1 port 22: Connection refused": "h1: cannot be reached over SSH",
		} {
			dir := t.TempDir()
			for name, script := range map[string]string{"ssh": "echo '" + says + "' >&2; exit 255", "ansible-playbook": "exit 1"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			spec, err := json.Marshal(map[string]any{"host": "h1", "controllers": []string{"h1"}, "lab": true})
			if err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			err = one.Remove(context.Background(), step.NewInput(spec, func(entry string) string {
				if entry == step.EnvTargets {
					return `[{"name": "h1"}]`
				}
				return ""
			}, &log))
			if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s where ssh says %q: error %v, want %q", one.Name, says, err, want)
			}
			if want == "" && !strings.Contains(log.String(), "h1 is gone") {
				t.Errorf("%s says nothing about the host that is gone: %q", one.Name, log.String())
			}
		}
	}
}
