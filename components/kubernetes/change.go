package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/kubestep"
)

// CheckChange refuses what cannot change while the cluster exists, and on its
// hosts ([hosts.CheckChange]). NewCluster refuses it too, but a program that
// makes the hosts itself asks before it declares them: else they would be
// changed for a cluster that is then refused. The name is that of the cluster,
// and the assessment holds what the last update left. The error names each
// change and the way that exists.
func CheckChange(name string, env *config.Environment, assessment *heal.Assessment) error {
	if env == nil || env.Kubernetes == nil {
		return errors.New("a cluster needs an environment with a kubernetes section")
	}
	if err := config.Check(env, config.PartScheduler); err != nil {
		return err
	}
	if err := hosts.CheckChange(env, assessment); err != nil {
		return err
	}
	model := env.KubernetesCluster()
	var refused, planes []string
	for _, resource := range assessment.Named(kubestep.ControlPlane) {
		text, _ := assessment.Stdin(resource)
		var was kubestep.ControlPlaneSpec
		if err := json.Unmarshal([]byte(text), &was); err != nil {
			return fmt.Errorf("reading what was done last: %w", err)
		}
		if resource != name+"-"+was.Host+"-control-plane" {
			continue // another cluster of the same stack
		}
		planes = append(planes, was.Host)
		for _, line := range changes(was, model) {
			if !slices.Contains(refused, line) {
				refused = append(refused, line)
			}
		}
	}
	stays := func(host string) bool { return slices.Contains(nodeNames(model.ControlPlanes), host) }
	if len(planes) > 0 && !slices.ContainsFunc(planes, stays) {
		refused = append(refused, fmt.Sprintf("none of the control planes %s stays, and the cluster's data is on them: replace them a few at a time", strings.Join(planes, ", ")))
	}
	if len(refused) > 0 {
		return fmt.Errorf("refused, since it cannot change while the cluster exists:\n  %s", strings.Join(refused, "\n  "))
	}
	return nil
}

// changes lists what the cluster began with and cannot become.
func changes(was kubestep.ControlPlaneSpec, model config.KubernetesCluster) []string {
	var refused []string
	for _, fact := range []struct{ key, was, is, why string }{
		{"endpoint", was.Endpoint, model.Endpoint, "every certificate and every host names it"},
		{"podCIDR", was.PodCIDR, model.PodCIDR, "nodes have their parts of it"},
		{"serviceCIDR", was.ServiceCIDR, model.ServiceCIDR, "services have addresses in it"},
	} {
		if fact.was != fact.is {
			refused = append(refused, fmt.Sprintf("kubernetes.%s was %s and cannot become %s: %s", fact.key, fact.was, fact.is, fact.why))
		}
	}
	if why := notUpgradable(was.Version, model.Version); why != "" {
		refused = append(refused, fmt.Sprintf("kubernetes.version was %s and cannot become %s: %s", was.Version, model.Version, why))
	}
	return refused
}
