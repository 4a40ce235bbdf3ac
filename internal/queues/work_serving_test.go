package queues

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

const (
	deployments = "/apis/apps/v1/namespaces/answers/deployments/answers"
	replicas    = "/api/v1/namespaces/answers/pods?labelSelector=app%3Danswers"
)

// serve makes the service of the examples as one of a team's people.
func (s *site) serve(t *testing.T, team string) {
	t.Helper()
	text, err := s.Kubectl(t, "kustomize", filepath.Join("..", "..", "examples", "serving"))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		kubetest.At(object, "metadata").(map[string]any)["namespace"] = team
		if object["kind"] == "Deployment" {
			pod := kubetest.At(object, "spec", "template", "spec").(map[string]any)
			security := pod["securityContext"].(map[string]any)
			security["runAsUser"], security["runAsGroup"] = s.uid(team), s.uid(team)
			delete(object["spec"].(map[string]any), "minReadySeconds") // there is room for all replicas twice
		}
		createJSON(t, s.as(team), object)
	}
}

// served waits until all replicas of the service are up to date and at work.
func (s *site) served(t *testing.T, want float64) {
	t.Helper()
	s.Eventually(t, deployments, func(o map[string]any) bool {
		return kubetest.At(o, "status", "observedGeneration") == kubetest.At(o, "metadata", "generation") &&
			kubetest.At(o, "status", "replicas") == want && kubetest.At(o, "status", "updatedReplicas") == want && kubetest.At(o, "status", "availableReplicas") == want
	})
}

func (s *site) scale(t *testing.T, to string) {
	t.Helper()
	if _, err := s.as("answers").Do(t.Context(), http.MethodPatch, deployments+"/scale", []byte(`{"spec":{"replicas":`+to+`}}`)); err != nil {
		t.Fatal(err)
	}
}

// update gives the service another release.
func (s *site) update(t *testing.T, release string) {
	t.Helper()
	change := `{"spec":{"template":{"metadata":{"annotations":{"release":"` + release + `"}}}}}`
	if _, err := s.as("answers").Do(t.Context(), http.MethodPatch, deployments, []byte(change)); err != nil {
		t.Fatal(err)
	}
}

// servingDisplacesWholeJobs checks that a service takes GPUs from a training job
// of its team only by displacing the whole of it: never one of its pods. Of 16
// GPUs, training has 12, and each replica 1.
func servingDisplacesWholeJobs(t *testing.T, s *site) {
	const team, gang = "answers", 3
	s.submit(t, team, "training", ask{pods: gang, gpus: 4, priority: "training"})
	first := s.running(t, team, "training", gang)
	s.serve(t, team)
	s.served(t, 2)
	s.used(t, team, 14)
	s.Eventually(t, "/apis/policy/v1/namespaces/answers/poddisruptionbudgets/answers", func(o map[string]any) bool {
		return kubetest.At(o, "status", "currentHealthy") == 2.0 && kubetest.At(o, "status", "disruptionsAllowed") == 1.0
	})

	// With room for two replicas that start and two that still end, an update
	// displaces nobody.
	s.update(t, "2")
	s.served(t, 2)
	s.used(t, team, 14) // those that ended hold nothing any more
	s.scale(t, "4")
	s.served(t, 4)
	if now := s.running(t, team, "training", gang); !maps.Equal(now, first) {
		t.Errorf("the service changed the training job from %v to %v", first, now)
	}
	s.used(t, team, 16)

	// Without any, the whole job goes, and comes back whole.
	s.update(t, "3")
	s.served(t, 4)
	for pod := range s.running(t, team, "training", gang) {
		if _, ok := first[pod]; ok {
			t.Errorf("%s was left of a job that was displaced", pod)
		}
	}
	s.scale(t, "5")
	s.goneWhole(t, team, "training", gang)
	s.waiting(t, team, "training", "Preempted to accommodate a workload")
	s.served(t, 5)
	s.used(t, team, 5)
	s.scale(t, "2")
	s.running(t, team, "training", gang)
	s.served(t, 2)
	s.used(t, team, 14)

	// Training never displaces the service.
	serving := s.names(t, replicas)
	s.submit(t, team, "more", ask{pods: 1, gpus: 4, priority: "training"})
	s.waiting(t, team, "more", "insufficient unused quota for nvidia.com/gpu in flavor b200, 2 more needed")
	if now := s.names(t, replicas); !slices.Equal(now, serving) {
		t.Errorf("replicas were %q and are %q", serving, now)
	}
}

// names lists objects in order.
func (s *site) names(t *testing.T, path string) []string {
	t.Helper()
	var names []string
	for _, object := range items(s.get(t, path)) {
		names = append(names, kubetest.At(object, "metadata", "name").(string))
	}
	slices.Sort(names)
	return names
}

// goneWhole watches a job until none of its pods is at work. Before one is taken
// from it, the job itself has been told to stop.
func (s *site) goneWhole(t *testing.T, team, job string, pods int) {
	t.Helper()
	s.Eventually(t, "/api/v1/namespaces/"+team+"/pods?labelSelector=batch.kubernetes.io/job-name="+job, func(list map[string]any) bool {
		at := 0
		for _, pod := range items(list) {
			if kubetest.At(pod, "status", "phase") == "Running" && kubetest.At(pod, "metadata", "deletionTimestamp") == nil {
				at++
			}
		}
		if at > 0 && at < pods && kubetest.At(s.get(t, jobPath(team, job)), "spec", "suspend") != true {
			t.Errorf("%s of %s goes on with %d of %d pods", job, team, at, pods)
		}
		return at == 0
	})
}
