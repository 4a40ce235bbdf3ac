package kubernetes

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

// notUpgradable says why a release cannot become another one, and what to write;
// nothing where it can. Kubernetes allows any patch that is newer, and the next
// minor release.
func notUpgradable(was, is string) string {
	wasMinor, wasPatch, ok := release(was)
	isMinor, isPatch, known := release(is)
	switch {
	case !ok || !known:
		return "one of them is no release" // never, as long as a release of ours wrote them
	case isMinor < wasMinor || isMinor == wasMinor && isPatch < wasPatch:
		return fmt.Sprintf("a cluster does not go back; write \"1.%d\"", wasMinor)
	case isMinor > wasMinor+1:
		return fmt.Sprintf("no minor release can be left out; write \"1.%d\" and run it, then the next", wasMinor+1)
	}
	return ""
}

// release splits "v1.36.3".
func release(version string) (minor, patch int, ok bool) {
	n, err := fmt.Sscanf(version, "v1.%d.%d", &minor, &patch)
	return minor, patch, err == nil && n == 2
}

// upgraded tells whether the last update left the named resource with another
// release, and which.
func (b *builder) upgraded(resource string) (was string, upgraded bool) {
	text, ok := b.heal.Stdin(resource)
	var spec struct {
		Version string `json:"version"`
	}
	if !ok || json.Unmarshal([]byte(text), &spec) != nil {
		return "", false
	}
	return spec.Version, spec.Version != b.model.Version
}

// explainUpgrade tells, before anything is registered, what an upgrade does to
// which hosts.
func (b *builder) explainUpgrade() error {
	var planes, workers []string
	was := ""
	for _, host := range b.controlPlanes() {
		if version, ok := b.upgraded(b.planeName(host)); ok {
			planes, was = append(planes, host), version
		}
	}
	for _, worker := range b.model.Workers {
		if version, ok := b.upgraded(b.memberName(worker.Name)); ok {
			workers, was = append(workers, worker.Name), version
		}
	}
	if was == "" {
		return nil
	}
	return b.ctx.Log.Info(describeUpgrade(was, b.model, planes, workers), nil)
}

func describeUpgrade(was string, model config.KubernetesCluster, planes, workers []string) string {
	text := fmt.Sprintf("Kubernetes goes from %s to %s, in place:", was, model.Version)
	if len(planes) > 0 {
		text += fmt.Sprintf("\n  %s, one after the other: upgraded, with etcd; the API server starts again, pods stay", strings.Join(planes, ", "))
	}
	if len(workers) > 0 {
		text += fmt.Sprintf("\n  %s, then, at most %d at a time: drained within the budgets of pods, for at most %s; upgraded; a pod on all GPUs; open again",
			strings.Join(workers, ", "), model.UpgradeAtOnce, model.EvictionDeadline)
	}
	return text
}

// planeName and memberName are the names of the resources of a host.
func (b *builder) planeName(host string) string  { return b.name + "-" + host + "-control-plane" }
func (b *builder) memberName(host string) string { return b.name + "-" + host }

// waves has workers that are upgraded wait for each other, whatever else Pulumi
// does at the same time. One that fails thereby stops those after it.
type waves struct {
	size           int
	before, within []pulumi.Resource
}

// next is what the next worker waits for.
func (w *waves) next() []pulumi.Resource {
	if len(w.within) >= w.size {
		w.before, w.within = w.within, nil
	}
	return w.before
}

// add takes the worker into the wave.
func (w *waves) add(worker pulumi.Resource) { w.within = append(w.within, worker) }
