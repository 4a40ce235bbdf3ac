package gatestep

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// What the gate is given travels in one entry of the environment, which the
// kernel bounds at 128 KiB, whatever the number of hosts.
const (
	listLimit   = 64 << 10
	reasonLimit = 1 << 10
)

// Outcomes is how all hosts of an environment ended.
type Outcomes struct {
	// Ready counts the hosts that ended ready in every step.
	Ready int `json:"ready"`
	// Quarantined counts the others.
	Quarantined int `json:"quarantined"`
	// Listed are hosts in quarantine with their reasons: all that there is
	// room for.
	Listed []Quarantine `json:"listed"`
}

// Quarantine is one host that could not be brought to what was declared.
type Quarantine struct {
	// Host by name.
	Host string `json:"host"`
	// Reasons in the order of the steps, one a step that failed.
	Reasons []string `json:"reasons"`
}

// Collect sums up the results of steps, in which a host may stand several
// times. A result that is no outcome is an error.
func Collect(results []string) (Outcomes, error) {
	reasons := map[string][]string{}
	var order []string
	for _, result := range results {
		outcome, ok := step.ReadOutcome(result)
		if !ok {
			return Outcomes{}, fmt.Errorf("not an outcome: %q", result)
		}
		if _, known := reasons[outcome.Host]; !known {
			order = append(order, outcome.Host)
			reasons[outcome.Host] = nil
		}
		if outcome.Status == step.StatusQuarantined {
			reasons[outcome.Host] = append(reasons[outcome.Host], clip(outcome.Reason))
		}
	}
	all := Outcomes{Listed: []Quarantine{}}
	size := 0
	for _, host := range order {
		if len(reasons[host]) == 0 {
			all.Ready++
			continue
		}
		all.Quarantined++
		one := Quarantine{Host: host, Reasons: reasons[host]}
		text, err := json.Marshal(one)
		if err != nil {
			return Outcomes{}, fmt.Errorf("collecting outcomes: %w", err)
		}
		if size += len(text); size <= listLimit {
			all.Listed = append(all.Listed, one)
		}
	}
	return all, nil
}

// clip keeps the beginning of a long reason.
func clip(reason string) string {
	if len(reason) <= reasonLimit {
		return reason
	}
	return strings.ToValidUTF8(reason[:reasonLimit], "") + " …"
}
