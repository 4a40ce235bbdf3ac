package kubestep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// smokeName stands for the pods in the list that the gate judges.
const smokeName = "the smoke pods"

// SmokeSpec asks for pods that prove the whole cluster.
type SmokeSpec struct {
	// ControlPlanes by name.
	ControlPlanes []string `json:"controlPlanes"`
	// Hosts that a pod runs on each, with the GPUs that it asks for there.
	Hosts map[string]int `json:"hosts"`
	// Seen is how many GPUs such a pod sees, where that is another number.
	Seen map[string]int `json:"seen,omitempty"`
	// CheckImage is the pods' image.
	CheckImage string `json:"checkImage"`
}

func applySmoke(ctx context.Context, in *step.Input) (any, error) {
	var spec SmokeSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	cluster, err := client(ctx, in, session, spec.ControlPlanes)
	if err != nil {
		return nil, err
	}
	seen, err := smoke(ctx, cluster, spec)
	if err != nil && ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		return step.Quarantined(smokeName, err), nil
	}
	return step.Ready(smokeName, strings.Join(seen, "; ")), nil
}

// smoke runs a pod on each of the hosts at once, and tells what each saw.
func smoke(ctx context.Context, cluster *kubectl.Client, spec SmokeSpec) ([]string, error) {
	hosts := slices.Sorted(maps.Keys(spec.Hosts))
	seen, problems := make([]string, len(hosts)), make([]error, len(hosts))
	var group sync.WaitGroup
	for i, host := range hosts {
		group.Go(func() { seen[i], problems[i] = smokeOn(ctx, cluster, spec, host) })
	}
	group.Wait()
	return seen, errors.Join(problems...)
}

// smokeOn runs a pod on a host, unless pods of people are at work there: those
// prove it better, and are not made to wait.
func smokeOn(ctx context.Context, cluster *kubectl.Client, spec SmokeSpec, host string) (string, error) {
	gpus := spec.Hosts[host]
	work, err := cluster.Work(ctx, host)
	if err != nil {
		return "", err
	}
	if work.GPUs > 0 {
		return host + " is at work: " + work.String(), nil
	}
	output, err := cluster.RunCheck(ctx, kubectl.Check{
		Name: "smoke-" + host, Node: host, GPUs: gpus, Image: spec.CheckImage, Command: []string{"nvidia-smi", "-L"},
	})
	if err != nil {
		if work, asked := cluster.Work(ctx, host); asked == nil && work.GPUs > 0 {
			return host + " went to work meanwhile: " + work.String(), nil
		}
		return "", err
	}
	if count := gpusIn(output); count != cmp.Or(spec.Seen[host], gpus) {
		return "", fmt.Errorf("a pod that asked for %d GPUs on %s sees %d", gpus, host, count)
	}
	return fmt.Sprintf("%s saw %d GPUs", host, gpus), nil
}
