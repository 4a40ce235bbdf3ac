// Package gatestep is the last step of a run: it fails the run when a host
// ended in quarantine. Pulumi starts no new step after an error, so a host
// that fails must not fail its own resource, or the healthy hosts would be
// left half done.
package gatestep

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Name of the step.
const Name = "gate"

// EnvOutcomes holds the JSON list of the outcomes that the gate judges.
const EnvOutcomes = "GPUCLUSTER_OUTCOMES"

// Spec of the gate.
type Spec struct {
	// Environment by name.
	Environment string `json:"environment"`
}

// Result of a gate that let the run pass.
type Result struct {
	// Ready counts the hosts that ended ready.
	Ready int `json:"ready"`
}

// Step judges the outcomes of all hosts.
func Step() step.Step {
	return step.Step{Name: Name, Title: "Check that no host is in quarantine", Apply: apply}
}

func apply(_ context.Context, in *step.Input) (any, error) {
	var spec Spec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	var texts []string
	if err := json.Unmarshal([]byte(in.Getenv(EnvOutcomes)), &texts); err != nil {
		return nil, fmt.Errorf("reading the outcomes: %w", err)
	}
	return judge(spec.Environment, texts)
}

func judge(environment string, texts []string) (Result, error) {
	var bad []string
	ready := map[string]bool{}
	for _, text := range texts {
		outcome, ok := step.ReadOutcome(text)
		if !ok {
			return Result{}, fmt.Errorf("not an outcome: %q", text)
		}
		if outcome.Status == step.StatusReady {
			ready[outcome.Host] = true
			continue
		}
		bad = append(bad, fmt.Sprintf("  %s: %s", outcome.Host, outcome.Reason))
	}
	if len(bad) == 0 {
		return Result{Ready: len(ready)}, nil
	}
	return Result{}, fmt.Errorf("%d of the hosts of %s are in quarantine and take no work; all others are done:\n%s\nmend them and run up again: it tries these hosts once more",
		len(bad), environment, strings.Join(bad, "\n"))
}
