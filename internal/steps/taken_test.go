package steps

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/slurmstep"
)

// TestRemoveFromAHostOfAnotherState checks each removal that places something on
// a host: what is on a host that another state has taken over is that state's.
func TestRemoveFromAHostOfAnotherState(t *testing.T) {
	for _, one := range append(hoststep.Steps(), slurmstep.Steps()...) {
		if one.Remove == nil || one.Name == slurmstep.Guard {
			continue
		}
		for owner, removes := range map[string]bool{"one": true, "two": false} {
			dir := t.TempDir()
			played := filepath.Join(dir, "played")
			for name, script := range map[string]string{
				"ssh":              `case "$*" in *host.json*) echo '{"environment":"theirs","owner":"one"}' ;; esac`,
				"ansible-playbook": "touch " + played,
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			spec, err := json.Marshal(map[string]any{"host": "h1", "controllers": []string{"h1"}})
			if err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			entries := map[string]string{step.EnvTargets: `[{"name": "h1"}]`, hoststep.EnvOwner: `"` + owner + `"`}
			err = one.Remove(context.Background(), step.NewInput(spec, func(entry string) string { return entries[entry] }, &log))
			_, missing := os.Stat(played)
			if removes != !errors.Is(missing, fs.ErrNotExist) {
				t.Errorf("%s of the state %s plays its removal: %v, want %v; error %v", one.Name, owner, !removes, removes, err)
			}
			if !removes && (err != nil || !strings.Contains(log.String(), "h1 belongs to theirs of another state by now")) {
				t.Errorf("%s: error %v, it says %q", one.Name, err, log.String())
			}
		}
	}
}
