package kubectl

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// TestCaseK37 has the API server start again under a look at the cluster: resets
// and bad gateways are waited through, and what changes something is not sent a
// second time.
func TestCaseK37(t *testing.T) {
	trouble := []string{"read: connection reset by peer", "an error on the server (\"<html>502 Bad Gateway\") has prevented the request", "connect: connection refused"}
	looks, changes := 0, 0
	client := &Client{Poll: time.Millisecond, Runner: shell.RunnerFunc(func(_ context.Context, command string, _ []byte) ([]byte, error) {
		if strings.Contains(command, "taint") {
			changes++
			return nil, &shell.ExitError{Command: command, Status: 1, Stderr: trouble[0]}
		}
		if looks++; looks <= len(trouble) {
			return nil, &shell.ExitError{Command: command, Status: 1, Stderr: trouble[looks-1]}
		}
		return []byte(nodeJSON("True", "8", "")), nil
	})}
	if err := client.WaitRelease(t.Context(), "gpu1", "v1.36.3", time.Minute); err != nil || looks != len(trouble)+1 {
		t.Errorf("after %d looks: %v", looks, err)
	}
	if err := client.Close(t.Context(), "gpu1"); err == nil || changes != 1 {
		t.Errorf("a change was sent %d times, error %v", changes, err)
	}
	if err := client.WaitRelease(t.Context(), "gpu1", "v1.37.2", 0); err == nil || !strings.Contains(err.Error(), "its kubelet is v1.36.3, and not v1.37.2 yet") {
		t.Errorf("error %v", err)
	}
}
