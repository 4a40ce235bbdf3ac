package main

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestQueuesAreRefused checks that what cannot be built yet is refused in one
// sentence before anything is registered.
func TestQueuesAreRefused(t *testing.T) {
	r := &pulumitest.Recorder{}
	err := r.Run("example-onprem-kubernetes", build)
	if err == nil || !strings.Contains(err.Error(), "this release does not build them: write queueing: none, and leave teams out") {
		t.Errorf("error %v", err)
	}
	if len(r.Resources()) > 0 {
		t.Errorf("registered before it was refused:\n%s", r.Inventory())
	}
}

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
