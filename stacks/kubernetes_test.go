package main

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestKubernetes checks that the lab's cluster is declared whole: hosts wait for
// their server of images, and the stack says how to reach it.
func TestKubernetes(t *testing.T) {
	r := pulumitest.Run(t, "lab-kubernetes", build)
	const served = "lab-kubernetes-artifacts"
	for _, name := range []string{"lab-kubernetes-ctl1-control-plane", "lab-kubernetes-gpu3"} {
		if !strings.Contains(strings.Join(r.Before(name), " ")+" ", served+" ") {
			t.Errorf("%s does not wait for %s but for %v", name, served, r.Before(name))
		}
	}
}
