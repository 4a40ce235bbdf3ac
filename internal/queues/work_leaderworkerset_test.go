package queues

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// groupsStartWhole checks that each group of a LeaderWorkerSet is one workload: a
// leader and two workers run, or none of them does. Of 16 GPUs each group wants
// 12, so that the second group of the set waits for the first.
func groupsStartWhole(t *testing.T, s *site) {
	const team, sets = "groups", "/apis/leaderworkerset.x-k8s.io/v1/namespaces/groups/leaderworkersets"
	// What an installation is asked by: its webhooks answer some moments after it runs.
	s.Soon(t, func() error { return s.Try(t.Context(), encoded(t, jobkind.LeaderWorkerSet.Probe())) })
	submit := func(name string) {
		pod := s.template(team, 4, nil)
		delete(pod["spec"].(map[string]any), "restartPolicy") // they serve for ever
		object := encoded(t, map[string]any{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": map[string]any{"name": name, "namespace": team},
			"spec": map[string]any{"replicas": 1, "leaderWorkerTemplate": map[string]any{"size": 3, "workerTemplate": pod}}})
		if _, err := s.as(team).Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	pods := func(name string) string {
		return "/api/v1/namespaces/" + team + "/pods?labelSelector=leaderworkerset.sigs.k8s.io/name=" + name
	}
	placed := func(list map[string]any) (there, at int) {
		for _, pod := range items(list) {
			there++
			if kubetest.At(pod, "spec", "nodeName") != nil {
				at++
			}
		}
		return there, at
	}
	whole := func(name string) {
		s.Eventually(t, pods(name), func(list map[string]any) bool { _, at := placed(list); return at == 3 })
	}
	submit("first")
	whole("first")
	s.used(t, team, 12)
	submit("second")
	s.Eventually(t, "/apis/"+kueueAPI+"/namespaces/"+team+"/workloads", func(list map[string]any) bool {
		return len(items(list)) == 2 && strings.Contains(string(encoded(t, list)), "insufficient unused quota for nvidia.com/gpu in flavor a30")
	})
	if _, at := placed(s.get(t, pods("second"))); at > 0 {
		t.Errorf("of a group that waits %d pods have a host", at)
	}
	s.used(t, team, 12)
	if _, err := s.as(team).Do(t.Context(), http.MethodDelete, sets+"/first", nil); err != nil {
		t.Fatal(err)
	}
	whole("second")
	s.used(t, team, 12)
}
