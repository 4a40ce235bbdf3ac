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

// EnvOutcomes holds what the gate judges, [Outcomes] as JSON.
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
	var outcomes Outcomes
	if err := json.Unmarshal([]byte(in.Getenv(EnvOutcomes)), &outcomes); err != nil {
		return nil, fmt.Errorf("reading the outcomes: %w", err)
	}
	return judge(spec.Environment, outcomes)
}

func judge(environment string, outcomes Outcomes) (Result, error) {
	if outcomes.Quarantined == 0 {
		return Result{Ready: outcomes.Ready}, nil
	}
	what := "1 host of " + environment + " is"
	if outcomes.Quarantined > 1 {
		what = fmt.Sprintf("%d hosts of %s are", outcomes.Quarantined, environment)
	}
	var list strings.Builder
	for _, host := range outcomes.Listed {
		for _, reason := range host.Reasons {
			fmt.Fprintf(&list, "  %s: %s\n", host.Host, strings.ReplaceAll(reason, "\n", "\n    "))
		}
	}
	if left := outcomes.Quarantined - len(outcomes.Listed); left > 0 {
		fmt.Fprintf(&list, "  and %d more\n", left)
	}
	return Result{}, fmt.Errorf("%s in quarantine:\n%sall others are ready; repair these and run the update again, which retries them", what, list.String())
}
