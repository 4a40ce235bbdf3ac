package main

import (
	"slices"
	"testing"
)

// TestOperatorIsWaitedForBeforeTheGuard checks that the wait for the GPU Operator
// begins when all workers have joined and none is in quarantine, and that it is
// not among what waits for itself.
func TestOperatorIsWaitedForBeforeTheGuard(t *testing.T) {
	const env = "example-onprem-kubernetes"
	r := run(t, env)
	before := r.Before(env + "-gpus-ready")
	for _, name := range []string{env + "-ctl3-control-plane", env + "-gpu024", env + "-viz08", env + "-smoke", env + "-gate"} {
		if !slices.Contains(before, name) {
			t.Errorf("the wait begins without %s", name)
		}
	}
	if slices.Contains(before, env+"-guard") {
		t.Error("the wait waits for the guard, which waits for it")
	}
	if !slices.Contains(r.Before(env+"-guard"), env+"-gpus-ready") {
		t.Error("the guard does not wait for it")
	}
}
