package operatorstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// ReadySpec says what to wait for.
type ReadySpec struct {
	// Statuses are objects whose .status.state becomes "ready".
	Statuses []Status `json:"statuses,omitempty"`
	// Admitted are objects that are tried, and not made: who has to admit their kind
	// is ready when they pass.
	Admitted []Attempt `json:"admitted,omitempty"`
	// Namespaces of the operators, whose pods are looked at when waiting was in vain.
	Namespaces []string `json:"namespaces,omitempty"`
	// Limit is how long to wait for each, as a Go duration.
	Limit string `json:"limit"`
	// Release tells one installation from another, after which it is waited for
	// again.
	Release string `json:"release"`
}

// Status is an object in which an operator says how far its work is.
type Status struct {
	// Path of the object in the API, and its Name for people.
	Path string `json:"path"`
	Name string `json:"name"`
}

// Attempt is an object that is tried.
type Attempt struct {
	// Path under which objects of the kind are made.
	Path string `json:"path"`
	// Object as JSON.
	Object json.RawMessage `json:"object"`
}

func ready(ctx context.Context, in *step.Input) (any, error) {
	var spec ReadySpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	limit, err := time.ParseDuration(spec.Limit)
	if err != nil {
		return nil, fmt.Errorf("reading the limit: %w", err)
	}
	api, err := client(in)
	if err != nil {
		return nil, err
	}
	for _, status := range spec.Statuses {
		if err := wait(ctx, in, limit, status.Name, func() error { return done(ctx, api, status) }); err != nil {
			return nil, explained(ctx, api, spec.Namespaces, err)
		}
	}
	for _, attempt := range spec.Admitted {
		if err := wait(ctx, in, limit, attempt.Path, func() error { return admitted(ctx, api, attempt) }); err != nil {
			return nil, explained(ctx, api, spec.Namespaces, err)
		}
	}
	return map[string]bool{"ready": true}, nil
}

// probeReady asks once, so that an update puts back what is gone.
func probeReady(ctx context.Context, in *step.Input) error {
	var spec ReadySpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	api, err := client(in)
	if err != nil {
		return err
	}
	for _, status := range spec.Statuses {
		if err := done(ctx, api, status); err != nil {
			return err
		}
	}
	for _, attempt := range spec.Admitted {
		if err := admitted(ctx, api, attempt); err != nil {
			return err
		}
	}
	return nil
}

// done tells whether an operator says that its work is done, and what it lacks.
func done(ctx context.Context, api *kubeapi.Client, status Status) error {
	text, err := api.Get(ctx, status.Path)
	if err != nil {
		return err
	}
	var object struct {
		Status struct {
			State      string `json:"state"`
			Conditions []struct {
				Type    string `json:"type"`
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("reading the %s: %w", status.Name, err)
	}
	if object.Status.State == "ready" {
		return nil
	}
	state := object.Status.State
	if state == "" {
		state = "not yet looked at"
	}
	var why []string
	for _, c := range object.Status.Conditions {
		if c.Type == "Error" && c.Status == "True" && c.Message != "" {
			why = append(why, c.Message)
		}
	}
	return fmt.Errorf("the %s is %s", status.Name, strings.Join(append([]string{state}, why...), ": "))
}

// admitted tells whether an object passes; one that is there already has passed
// before.
func admitted(ctx context.Context, api *kubeapi.Client, attempt Attempt) error {
	err := api.Try(ctx, attempt.Path, attempt.Object)
	var refusal *kubeapi.Refusal
	if errors.As(err, &refusal) && refusal.Code == http.StatusConflict {
		return nil
	}
	return err
}
