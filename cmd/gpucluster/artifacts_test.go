package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What each Kubernetes environment needs is pinned: who has a mirror has to know
// of a change.
func TestArtifactsList(t *testing.T) {
	for _, environment := range environments(t) {
		t.Run(environment, func(t *testing.T) {
			stdout, stderr, err := run(t, "artifacts", "list", environment)
			if !strings.Contains(environment, "kubernetes") {
				if err == nil || stdout != "" || err.Error() != environment+": only what Kubernetes needs is listed, and the scheduler is slurm" {
					t.Errorf("it says %q, %v", stdout, err)
				}
				return
			}
			if err != nil || stderr != "" {
				t.Fatalf("%v\n%s", err, stderr)
			}
			golden(t, filepath.Join("testdata", "artifacts", environment+".txt"), stdout)
		})
	}
}
