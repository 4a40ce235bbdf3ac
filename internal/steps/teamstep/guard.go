// Package teamstep keeps what a team has in a Kubernetes cluster from going with
// the team.
package teamstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

const (
	// Guard is the step that refuses to remove a team that is at work.
	Guard = "team-guard"
	// SecretKubeconfig is the administrator's kubeconfig, as a secret of the step.
	SecretKubeconfig = "KUBECONFIG"
	// named is how many objects of a kind a refusal names.
	named = 10
)

// GuardSpec says whose work is guarded.
type GuardSpec struct {
	// Team by name, and the Namespace that goes with it.
	Team      string `json:"team"`
	Namespace string `json:"namespace"`
}

// Steps are those of this package.
func Steps() step.Registry {
	return step.Registry{{Name: Guard, Title: "Keep a team's work from going with the team", Apply: apply, Remove: remove}}
}

func apply(_ context.Context, in *step.Input) (any, error) {
	var spec GuardSpec
	return map[string]bool{"guarded": true}, in.Spec(&spec)
}

// remove refuses while the team has pods or jobs that have not ended, or claims of
// storage, and while nobody can tell.
func remove(ctx context.Context, in *step.Input) error {
	var spec GuardSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	if hoststep.Overridden() {
		in.Logf("%s=yes: what team %s has is not asked for", hoststep.OverrideVariable, spec.Team)
		return nil
	}
	client, err := kubeapi.New([]byte(in.Secret(SecretKubeconfig)))
	if err != nil {
		return err
	}
	var left []string
	for _, kind := range []struct{ path, name string }{
		{"/api/v1/namespaces/%s/pods", "pod"},
		{"/apis/batch/v1/namespaces/%s/jobs", "job"},
		{"/api/v1/namespaces/%s/persistentvolumeclaims", "claim of storage"},
	} {
		found, err := list(ctx, client, fmt.Sprintf(kind.path, spec.Namespace), kind.name)
		if err != nil {
			return fmt.Errorf("nobody can tell what team %s has in namespace %s, and nothing of it was removed: %w\nmake the API server answer and run it again, or remove everything with the team by setting %s=yes",
				spec.Team, spec.Namespace, err, hoststep.OverrideVariable)
		}
		left = append(left, found...)
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("team %s is at work in namespace %s, and nothing of it was removed:\n  %s\nwait for it, delete it, put the team back into the environment, or remove everything with the team by setting %s=yes",
		spec.Team, spec.Namespace, strings.Join(left, "\n  "), hoststep.OverrideVariable)
}

// object is what is read of any of them.
type object struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Status struct {
		Phase      string `json:"phase"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// ended tells whether a pod or a job has.
func (o object) ended() bool {
	if o.Status.Phase == "Succeeded" || o.Status.Phase == "Failed" {
		return true
	}
	for _, c := range o.Status.Conditions {
		if (c.Type == "Complete" || c.Type == "Failed") && c.Status == "True" {
			return true
		}
	}
	return false
}

// list names what has not ended.
func list(ctx context.Context, client *kubeapi.Client, path, kind string) ([]string, error) {
	text, err := client.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	var found struct {
		Items []object `json:"items"`
	}
	if err := json.Unmarshal(text, &found); err != nil {
		return nil, errors.New("the API server's list is none")
	}
	var names []string
	for _, o := range found.Items {
		if !o.ended() {
			names = append(names, kind+" "+o.Metadata.Name)
		}
	}
	if more := len(names) - named; more > 0 {
		names = append(names[:named], fmt.Sprintf("and %d more of this kind", more))
	}
	return names, nil
}
