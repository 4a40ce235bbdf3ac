package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	if outcome, err := smokeLacksHosts(ctx, ctl, spec); outcome != nil || err != nil {
		return outcome, err
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

// smokeLacksHosts is the outcome of a job that would wait in vain, since too few
// hosts of its partition are not drained; else nil. Where each of the drains is a
// person's, nothing is wrong with the cluster. Hosts that do not answer are waited
// for: after a restart of slurmctld they do in a moment.
func smokeLacksHosts(ctx context.Context, ctl *slurmctl.Client, spec SmokeSpec) (any, error) {
	nodes, err := ctl.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	left, wrong := 0, false
	var drained []string
	for _, node := range nodes {
		switch {
		case !slices.Contains(node.Partitions, spec.Partition):
		case node.State.Has(slurmctl.FlagDrain):
			drained = append(drained, node.Name+" is drained: "+node.Reason)
			wrong = wrong || strings.HasPrefix(node.Reason, slurmctl.ReasonPrefix) || node.ReasonUser == "slurm"
		default:
			left++
		}
	}
	if len(drained) == 0 || left >= spec.Hosts {
		return nil, nil
	}
	why := fmt.Sprintf("put off: it needs %d hosts of partition %s, and %d are not drained; %s", spec.Hosts, spec.Partition, left, strings.Join(drained, "; "))
	if wrong {
		return step.Quarantined(smokeName, errors.New(why)), nil
	}
	return step.Ready(smokeName, why), nil
}
