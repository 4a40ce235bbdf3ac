// Package kueuestep is what has to be done about Kueue that no object says.
package kueuestep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

const (
	// Ready is the step that waits until Kueue admits objects.
	Ready = "kueue-ready"
	// SecretKubeconfig is the administrator's kubeconfig, as a secret of the step.
	SecretKubeconfig = "KUBECONFIG"

	flavors       = "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"
	registrations = "/apis/admissionregistration.k8s.io/v1/"
	pause         = time.Second
)

// ReadySpec says what to wait for.
type ReadySpec struct {
	// Flavor is a ResourceFlavor as JSON: Kueue is ready when its webhooks let it
	// pass. It is not made.
	Flavor json.RawMessage `json:"flavor"`
	// Limit is how long to wait, as a Go duration.
	Limit string `json:"limit"`
	// Release tells one installation of Kueue from another, after which it is
	// waited for again.
	Release string `json:"release"`
}

// Steps are those of this package.
func Steps() step.Registry {
	return step.Registry{{Name: Ready, Title: "Wait until Kueue admits objects", Apply: ready, Probe: probe}}
}

// ready waits: pods of Kueue are ready some 10 to 30 s before the API server
// reaches its webhooks and trusts them.
func ready(ctx context.Context, in *step.Input) (any, error) {
	var spec ReadySpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	limit, err := time.ParseDuration(spec.Limit)
	if err != nil {
		return nil, fmt.Errorf("reading the limit: %w", err)
	}
	client, err := kubeapi.New([]byte(in.Secret(SecretKubeconfig)))
	if err != nil {
		return nil, err
	}
	end, said := time.Now().Add(limit), ""
	for {
		err := client.Try(ctx, flavors, spec.Flavor)
		if answered(err) {
			err = asked(ctx, client)
		}
		if err == nil {
			return map[string]bool{"ready": true}, nil
		}
		if hopeless(err) {
			return nil, fmt.Errorf("asking for Kueue: %w", err)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("waiting for Kueue, which admits no object after %s: %w", limit, err)
		}
		if err.Error() != said {
			said = err.Error()
			in.Logf("waiting for Kueue: %s", said)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// probe asks once, so that an update puts Kueue back where it is gone. An API
// server that does not answer is its control plane's trouble.
func probe(ctx context.Context, in *step.Input) error {
	var spec ReadySpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	client, err := kubeapi.New([]byte(in.Secret(SecretKubeconfig)))
	if err != nil {
		return err
	}
	if err = client.Try(ctx, flavors, spec.Flavor); answered(err) {
		err = asked(ctx, client)
	} else {
		err = fmt.Errorf("no object of Kueue is admitted: %w", err)
	}
	var refusal *kubeapi.Refusal
	if !errors.As(err, &refusal) {
		return nil
	}
	return err
}

// asked tells whether the API server asks Kueue about what teams make. Where it does
// not, it admits every object, and pods pass by their queues.
func asked(ctx context.Context, client *kubeapi.Client) error {
	for _, kind := range []string{"mutating", "validating"} {
		name := "kueue-" + kind + "-webhook-configuration"
		_, err := client.Get(ctx, registrations+kind+"webhookconfigurations/"+name)
		var refusal *kubeapi.Refusal
		if errors.As(err, &refusal) && refusal.Code == http.StatusNotFound {
			return fmt.Errorf("the API server does not ask Kueue, and pods pass by their queues: there is no %s: %w", name, err)
		}
		if err != nil {
			return fmt.Errorf("looking for %s: %w", name, err)
		}
	}
	return nil
}

// answered tells whether the webhooks have answered: an object that is there
// already has passed them too.
func answered(err error) bool {
	var refusal *kubeapi.Refusal
	return err == nil || errors.As(err, &refusal) && refusal.Code == http.StatusConflict
}

// hopeless tells whether waiting changes nothing.
func hopeless(err error) bool {
	var refusal *kubeapi.Refusal
	return errors.As(err, &refusal) && (refusal.Code == http.StatusUnauthorized || refusal.Code == http.StatusForbidden)
}
