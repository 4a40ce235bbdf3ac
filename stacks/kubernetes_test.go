package main

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// TestKubernetesIsRefused checks that an environment that cannot be built is
// refused in one sentence before anything is registered.
func TestKubernetesIsRefused(t *testing.T) {
	for _, stack := range []string{"lab-kubernetes", "example-onprem-kubernetes"} {
		r := &pulumitest.Recorder{}
		err := r.Run(stack, build)
		if err == nil || !strings.Contains(err.Error(), "the scheduler kubernetes can be described and checked, but this release does not build it\n") {
			t.Errorf("%s: error %v", stack, err)
		}
		if len(r.Resources()) > 0 {
			t.Errorf("%s: registered before it was refused:\n%s", stack, r.Inventory())
		}
	}
}
