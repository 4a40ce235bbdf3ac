// Package stackoutput reads what a cluster's stack says of itself, the outputs
// that slurm.Cluster.Outputs makes, through the pulumi program, which alone
// knows the backend and the passphrase.
package stackoutput

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/ledger"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Outputs of an environment.
type Outputs struct {
	// Name of the environment.
	Name string `json:"name"`
	// Scheduler that it was built for.
	Scheduler string `json:"scheduler"`
	// Controllers by name, the primary first.
	Controllers []string `json:"controllers"`
	// Logins are the login hosts by name.
	Logins []string `json:"logins"`
	// Ledger of the hosts.
	Ledger ledger.Ledger `json:"ledger"`
	// Smoke is how the last smoke job ended, as JSON.
	Smoke string `json:"smoke"`
	// Targets are the hosts as JSON.
	Targets string `json:"targets"`
	// PrivateKey that logs in; empty means the SSH agent. Secret.
	PrivateKey string `json:"sshPrivateKey"`
}

// Read asks pulumi for the outputs of a stack.
func Read(ctx context.Context, stack string) (Outputs, error) {
	var outputs Outputs
	cmd := exec.CommandContext(ctx, "pulumi", "stack", "output", "--stack", stack, "--json", "--show-secrets", "--non-interactive")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	data, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return outputs, fmt.Errorf("pulumi, which keeps what is known of %[1]s, is not on PATH; in a checkout of gpucluster type: make status ENV=%[1]s, or tools/stack.sh ssh %[1]s HOST", stack)
	}
	if err != nil {
		return outputs, fmt.Errorf("asking pulumi about %s: %w: %s", stack, err, strings.TrimSpace(stderr.String()))
	}
	if err := json.Unmarshal(data, &outputs); err != nil {
		return outputs, fmt.Errorf("reading what pulumi says about %s: %w", stack, err)
	}
	if outputs.Targets == "" {
		return outputs, fmt.Errorf("stack %q has no output \"targets\": it was taken down, no update of it has finished yet, or its program does not export it (slurm.Cluster.Outputs)", stack)
	}
	return outputs, nil
}

// Connect opens a session to the environment's hosts. The caller closes it.
func (o Outputs) Connect(ctx context.Context) (*remote.Session, error) {
	var targets []remote.Target
	if err := json.Unmarshal([]byte(o.Targets), &targets); err != nil {
		return nil, fmt.Errorf("reading the targets: %w", err)
	}
	return remote.Open(ctx, remote.Config{Targets: targets, PrivateKey: o.PrivateKey})
}

// SmokeOutcome is how the last smoke job ended, and whether there was one.
func (o Outputs) SmokeOutcome() (step.Outcome, bool) { return step.ReadOutcome(o.Smoke) }
