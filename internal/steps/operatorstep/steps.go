// Package operatorstep is what has to be done about operators in a cluster, whose
// charts and objects are made by others: their definitions before them, and a wait
// for the work that they do.
package operatorstep

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Names of the steps.
const (
	Definitions = "operator-definitions"
	Ready       = "operator-ready"
	Kinds       = "operator-kinds"
	Namespaces  = "operator-namespaces"
	Record      = "operator-record"
)

const (
	// SecretKubeconfig is the administrator's kubeconfig, as a secret of a step.
	SecretKubeconfig = "KUBECONFIG"
	// EnvCharts is the entry with the site's place of charts. Empty: none.
	EnvCharts = "GPUCLUSTER_CHARTS"
)

// pause lies between two questions; a variable for tests.
var pause = 2 * time.Second

// Steps are those of this package.
func Steps() step.Registry {
	return step.Registry{
		{Name: Definitions, Title: "Define the kinds of a chart", Apply: define},
		{Name: Ready, Title: "Wait for the work of operators", Apply: ready, Probe: probeReady},
		{Name: Kinds, Title: "Look for kinds that others define", Apply: kinds, Probe: probeKinds},
		{Name: Namespaces, Title: "Look whose namespaces are", Apply: namespaces},
		{Name: Record, Title: "Judge what Helm knows of a release", Apply: record, Probe: probeRecord},
	}
}

func client(in *step.Input) (*kubeapi.Client, error) {
	return kubeapi.New([]byte(in.Secret(SecretKubeconfig)))
}

// wait repeats a question until its answer is right, says each other reason once,
// and gives up after a limit, or at once where waiting changes nothing.
func wait(ctx context.Context, in *step.Input, limit time.Duration, what string, ask func() error) error {
	end, said := time.Now().Add(limit), ""
	for {
		err := ask()
		if err == nil {
			return nil
		}
		if hopeless(err) {
			return fmt.Errorf("asking for %s: %w", what, err)
		}
		if time.Now().After(end) {
			return fmt.Errorf("waiting for %s, for %s in vain: %w", what, limit, err)
		}
		if err.Error() != said {
			said = err.Error()
			in.Logf("waiting for %s: %s", what, said)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// hopeless tells whether waiting changes nothing.
func hopeless(err error) bool {
	var refusal *kubeapi.Refusal
	return errors.As(err, &refusal) && (refusal.Code == http.StatusUnauthorized || refusal.Code == http.StatusForbidden)
}
