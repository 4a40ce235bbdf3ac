package operatorstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// NamespacesSpec names namespaces that are about to be made, or were made before.
type NamespacesSpec struct {
	Names []string `json:"names"`
}

// namespaces refuses those that somebody else has made: making one that is there
// would take it over, and later delete it with all that it holds.
func namespaces(ctx context.Context, in *step.Input) (any, error) {
	var spec NamespacesSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	api, err := client(in)
	if err != nil {
		return nil, err
	}
	var taken []string
	for _, name := range spec.Names {
		text, err := api.Get(ctx, "/api/v1/namespaces/"+name)
		var refusal *kubeapi.Refusal
		if errors.As(err, &refusal) && refusal.Code == http.StatusNotFound {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("looking for namespace %s: %w", name, err)
		}
		var object struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
		}
		if err := json.Unmarshal(text, &object); err != nil {
			return nil, fmt.Errorf("reading namespace %s: %w", name, err)
		}
		if object.Metadata.Labels[kubeobject.ManagedBy] != kubeobject.Manager {
			taken = append(taken, name)
		}
	}
	if len(taken) > 0 {
		return nil, fmt.Errorf("not ours, and left alone: namespace %[1]s: take another name, or give it to the toolkit, which will also delete it: kubectl label namespace %[2]s %[3]s=%[4]s",
			strings.Join(taken, ", "), strings.Join(taken, " "), kubeobject.ManagedBy, kubeobject.Manager)
	}
	return map[string]bool{"ours": true}, nil
}
