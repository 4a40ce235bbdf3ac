package operatorstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// KindsSpec names kinds that have to be there already.
type KindsSpec struct {
	// Version of the API, such as "monitoring.coreos.com/v1".
	Version string `json:"version"`
	// Plurals of the kinds, such as "servicemonitors".
	Plurals []string `json:"plurals"`
	// Hint says who defines them, and what to write to do without.
	Hint string `json:"hint"`
}

// ServiceMonitors are those of the Prometheus Operator.
func ServiceMonitors() KindsSpec {
	return KindsSpec{Version: "monitoring.coreos.com/v1", Plurals: []string{"servicemonitors"},
		Hint: "install the Prometheus Operator's definitions first, or write kubernetes.monitoring.serviceMonitors: false"}
}

// kinds looks once: nothing of ours would make them later.
func kinds(ctx context.Context, in *step.Input) (any, error) {
	var spec KindsSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	if err := spec.look(ctx, in); err != nil {
		return nil, err
	}
	return map[string]bool{"there": true}, nil
}

func probeKinds(ctx context.Context, in *step.Input) error {
	var spec KindsSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	return spec.look(ctx, in)
}

func (s KindsSpec) look(ctx context.Context, in *step.Input) error {
	api, err := client(in)
	if err != nil {
		return err
	}
	text, err := api.Get(ctx, "/apis/"+s.Version)
	var refusal *kubeapi.Refusal
	if err != nil && !(errors.As(err, &refusal) && refusal.Code == http.StatusNotFound) {
		return fmt.Errorf("looking for kinds of %s: %w", s.Version, err)
	}
	var list struct {
		Resources []struct {
			Name string `json:"name"`
		} `json:"resources"`
	}
	if err == nil {
		if err := json.Unmarshal(text, &list); err != nil {
			return fmt.Errorf("reading the kinds of %s: %w", s.Version, err)
		}
	}
	for _, plural := range s.Plurals {
		if !slices.ContainsFunc(list.Resources, func(r struct {
			Name string `json:"name"`
		}) bool {
			return r.Name == plural
		}) {
			return fmt.Errorf("the cluster has no %s of %s: %s", plural, s.Version, s.Hint)
		}
	}
	return nil
}
