package kubetest

import (
	_ "embed"
	"os"
	"strconv"
	"testing"
)

// Stuck is an annotation of pods that never come to run, on whichever node.
const Stuck = "kubetest/stuck"

//go:embed stages.yaml
var stages []byte

// Simulate has every node behave as if it had a kubelet, until the test ends: a
// pod that is given to it runs at once, and goes at once when it is deleted. Pods
// do not end by themselves. A node is ready when it has been made, and has what
// its status says.
func (a *API) Simulate(t testing.TB) {
	t.Helper()
	file, err := newest("kwok")
	if err != nil {
		without(t, err)
	}
	config := a.plane.file("stages.yaml")
	if err := os.WriteFile(config, stages, 0o600); err != nil {
		t.Fatal(err)
	}
	a.plane.run(t, file, "kwok", "--kubeconfig", a.Kubeconfig, "--config", config, "--manage-all-nodes",
		// Nodes need no heartbeats here: see startPart.
		"--node-lease-duration-seconds", "0", "--server-address", "127.0.0.1:"+strconv.Itoa(FreePort(t)))
}
