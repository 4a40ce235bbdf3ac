package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// smokeName stands for the job in the list that the gate judges: the job may
// fail without keeping the rest of the run from its end.
const smokeName = "the smoke job"

// busyLimit is how long the job waits where jobs of others may hold the hosts:
// it does not keep their queue from moving, and a run does not wait for them.
const busyLimit = time.Minute

// SmokeSpec asks for a job over several hosts that proves the whole cluster.
type SmokeSpec struct {
	// Controllers by name.
	Controllers []string `json:"controllers"`
	// Version is the release line: another one is proved again.
	Version string `json:"version"`
	// Partition to run in.
	Partition string `json:"partition"`
	// Hosts that the job spans.
	Hosts int `json:"hosts"`
	// Gres that it asks for on each host.
	Gres string `json:"gres,omitempty"`
}

func applySmoke(ctx context.Context, in *step.Input) (any, error) {
	var spec SmokeSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	gres, err := slurmctl.ParseGres(spec.Gres)
	if err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	ctl, err := client(ctx, in, session, spec.Controllers)
	if err != nil {
		return nil, err
	}
	smoke := slurmctl.Smoke{Nodes: spec.Hosts, GPUs: gres, Partition: spec.Partition}
	others, err := ctl.Jobs(ctx, "RUNNING", "COMPLETING", "SUSPENDED")
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		smoke.Limit = busyLimit
	}
	seen, err := ctl.RunSmoke(ctx, smoke)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	var late *slurmctl.JobTimeout
	if len(others) > 0 && errors.As(err, &late) && late.Queued() {
		return step.Ready(smokeName, "put off: jobs of others hold the hosts; each host has run a job of ours when it came in"), nil
	}
	if err != nil {
		return step.Quarantined(smokeName, err), nil
	}
	var words []string
	for _, s := range seen {
		words = append(words, fmt.Sprintf("%s saw GPUs %s", s.Node, strings.Join(s.Devices, ",")))
	}
	return step.Ready(smokeName, strings.Join(words, "; ")), nil
}
