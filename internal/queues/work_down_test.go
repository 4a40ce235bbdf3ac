package queues

import (
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// withoutKueue checks what happens while Kueue is gone, and that a job whose pods
// do not come to run holds nothing when it is back, by a shorter time to wait for
// them.
func (s *site) withoutKueue(t *testing.T) {
	const team = "fabric"
	s.finish(t, team, "one", 2)
	s.finish(t, team, "two", 2)
	s.used(t, team, 0)
	s.submit(t, team, "before", ask{pods: 1, gpus: 8})
	s.running(t, team, "before", 1)
	s.kueue.Kill()
	for _, object := range []map[string]any{
		{"apiVersion": "v1", "kind": "Pod", "spec": s.template(team, 1, nil)["spec"]},
		{"apiVersion": "v1", "kind": "Pod", "spec": s.template(team, 0, nil)["spec"]},
		{"apiVersion": "batch/v1", "kind": "Job", "spec": map[string]any{"template": s.template(team, 1, nil)}},
	} {
		object["metadata"] = map[string]any{"name": "refused", "namespace": team}
		refusedWith(t, s.as(team).Try(t.Context(), encoded(t, object)), "failed calling webhook")
	}
	for _, namespace := range []string{"default", "kube-system"} {
		createJSON(t, s.API, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "meanwhile", "namespace": namespace},
			"spec": map[string]any{"template": s.template("", 0, nil)}})
		s.running(t, namespace, "meanwhile", 1)
	}
	// What runs goes on and ends; that a job has ended is seen when Kueue is back.
	s.end(t, team, "before", 1)
	hasty := s.c
	hasty.ReadyTimeout = "2s"
	s.kueue.start(t, hasty)
	s.ended(t, team, "before")
	s.used(t, team, 0)
	s.submit(t, team, "stuck", ask{pods: 3, gpus: 8, annotations: map[string]any{kubetest.Stuck: "yes"}})
	s.waiting(t, team, "stuck", "PodsReadyTimeout")
	s.used(t, team, 0)
	s.submit(t, team, "whole", ask{pods: 4, gpus: 8})
	s.running(t, team, "whole", 4)
}
