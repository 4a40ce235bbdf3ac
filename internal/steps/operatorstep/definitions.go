package operatorstep

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// definitions is where the API has them.
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// establishLimit is how long the API may take until it serves a kind.
const establishLimit = time.Minute

// DefinitionsSpec says which kinds are defined.
type DefinitionsSpec struct {
	// Chart that has them. Its place is the entry [EnvCharts].
	Chart helmchart.Source `json:"chart"`
	// Parts are charts within it that are used, and whose kinds are defined too.
	Parts []string `json:"parts,omitempty"`
}

// DefinitionsResult says what is defined.
type DefinitionsResult struct {
	Names []string `json:"names"`
}

// define gives the API the definitions of a chart, also where older ones are
// there: Helm would leave those as they are. They stay when the chart goes, and with
// them everything of their kinds.
func define(ctx context.Context, in *step.Input) (any, error) {
	var spec DefinitionsSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	api, err := client(in)
	if err != nil {
		return nil, err
	}
	spec.Chart.Place = in.Getenv(EnvCharts)
	archive, err := helmchart.Fetch(ctx, spec.Chart)
	if err != nil {
		return nil, err
	}
	all, err := helmchart.Definitions(archive, spec.Parts...)
	if err != nil {
		return nil, err
	}
	result := DefinitionsResult{}
	for _, d := range all {
		if err := api.Apply(ctx, definitions+d.Name, d.Object); err != nil {
			return nil, fmt.Errorf("defining %s: %w", d.Name, err)
		}
		result.Names = append(result.Names, d.Name)
	}
	for _, name := range result.Names {
		if err := wait(ctx, in, establishLimit, name, func() error { return established(ctx, api, name) }); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// established tells whether the API serves a kind.
func established(ctx context.Context, api *kubeapi.Client, name string) error {
	text, err := api.Get(ctx, definitions+name)
	if err != nil {
		return err
	}
	var object struct {
		Status struct {
			Conditions []struct {
				Type    string `json:"type"`
				Status  string `json:"status"`
				Message string `json:"message"`
			} `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	why := "not yet served"
	for _, c := range object.Status.Conditions {
		if c.Type == "Established" && c.Status == "True" {
			return nil
		}
		if c.Status == "False" && c.Message != "" {
			why = c.Message
		}
	}
	return fmt.Errorf("%s: %s", name, why)
}
