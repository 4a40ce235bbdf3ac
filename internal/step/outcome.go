package step

import "encoding/json"

// Status says how a host ended a step.
type Status string

// How a host can end a step.
const (
	// StatusReady means that the host is as declared.
	StatusReady Status = "ready"
	// StatusQuarantined means that the host could not be brought there. It
	// takes no work; the others go on, and the last gate fails the run.
	StatusQuarantined Status = "quarantined"
)

// Outcome is the result of a step on one host whose failure must not stop the
// others.
type Outcome struct {
	// Host by name.
	Host string `json:"host"`
	// Status of the host after the step.
	Status Status `json:"status"`
	// Reason says why the host is quarantined; empty when it is ready.
	Reason string `json:"reason,omitempty"`
	// Detail is what a ready host showed, for example what the validation
	// job saw.
	Detail string `json:"detail,omitempty"`
}

// Ready is the outcome of a host that is as declared.
func Ready(host, detail string) Outcome {
	return Outcome{Host: host, Status: StatusReady, Detail: detail}
}

// Quarantined is the outcome of a host that could not be brought there.
func Quarantined(host string, err error) Outcome {
	return Outcome{Host: host, Status: StatusQuarantined, Reason: err.Error()}
}

// ReadOutcome reads a step's result and reports whether it is an outcome.
func ReadOutcome(result string) (Outcome, bool) {
	var o Outcome
	if err := json.Unmarshal([]byte(result), &o); err != nil || o.Host == "" || o.Status == "" {
		return Outcome{}, false
	}
	return o, true
}
