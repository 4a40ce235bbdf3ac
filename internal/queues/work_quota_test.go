package queues

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// quotaIsKept checks what a team gets of a cohort. Of 24 GPUs, research has 16
// and may borrow 4: product lends no more.
func quotaIsKept(t *testing.T, s *site) {
	t.Run("case K60: a third job waits until the first ends, and those before it run", func(t *testing.T) {
		for _, name := range []string{"a", "b", "c"} {
			s.submit(t, "research", name, ask{pods: 1, gpus: 8})
			if name != "c" {
				s.running(t, "research", name, 1)
			}
		}
		s.waiting(t, "research", "c", "insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed")
		s.finish(t, "research", "a", 1)
		s.running(t, "research", "c", 1)
		s.finish(t, "research", "c", 1)
	})
	t.Run("a job that cannot start whole holds nothing, and lets smaller ones pass", func(t *testing.T) {
		// The job b still has 8 of 20.
		s.submit(t, "research", "never", ask{pods: 3, gpus: 8})
		s.submit(t, "research", "later", ask{pods: 3, gpus: 6})
		s.waiting(t, "research", "never", `current podset request (24) \u003e maximum capacity (20)`)
		s.waiting(t, "research", "later", "insufficient unused quota for nvidia.com/gpu in flavor h100, 6 more needed")
		s.used(t, "research", 8)
		s.submit(t, "research", "small", ask{pods: 2, gpus: 4})
		s.running(t, "research", "small", 2)
		s.used(t, "research", 16)
		s.finish(t, "research", "small", 2)
		s.waiting(t, "research", "later", "6 more needed")
		s.finish(t, "research", "b", 1)
		s.running(t, "research", "later", 3)
		s.finish(t, "research", "later", 3)
	})
	t.Run("a job without GPUs gets hosts", func(t *testing.T) {
		s.submit(t, "research", "cpu", ask{pods: 2})
		s.finish(t, "research", "cpu", 2)
	})
	t.Run("what was borrowed is taken back", func(t *testing.T) {
		lent := []string{"l1", "l2", "l3", "l4", "l5"}
		for _, name := range lent {
			s.submit(t, "research", name, ask{pods: 1, gpus: 4})
			s.running(t, "research", name, 1)
		}
		s.used(t, "research", 20)
		s.submit(t, "product", "back", ask{pods: 2, gpus: 4})
		s.running(t, "product", "back", 2)
		s.used(t, "product", 8)
		s.used(t, "research", 16)
		back := ""
		for _, name := range lent {
			if kubetest.At(s.get(t, jobPath("research", name)), "spec", "suspend") == true {
				back += name
			}
		}
		if len(back) != 2 {
			t.Errorf("%q made room, one job is enough", back)
		}
		s.finish(t, "product", "back", 2)
		s.used(t, "research", 20)
	})
}

// sharesAreFair checks that two teams that own nothing share what a third lends
// by their weights, 2 and 1, although one was there first.
func sharesAreFair(t *testing.T, s *site) {
	const jobs = 12
	submit := func(team string) {
		for i := range jobs {
			s.submit(t, team, fmt.Sprint("j", i), ask{pods: 1, gpus: 1})
		}
	}
	submit("east")
	s.used(t, "east", 12)
	submit("west")
	s.used(t, "west", 4)
	s.used(t, "east", 8)
	for team, want := range map[string]int{"east": 8, "west": 4} {
		s.Eventually(t, "/api/v1/namespaces/"+team+"/pods", func(list map[string]any) bool {
			at := 0
			for _, pod := range items(list) {
				if kubetest.At(pod, "status", "phase") == "Running" {
					at++
				}
			}
			return at == want && len(items(list)) == want
		})
	}
}

// racksAreKept checks that pods that want one switch get one, or wait. Under each
// of two leaves are two hosts of eight GPUs.
func racksAreKept(t *testing.T, s *site) {
	wish := map[string]any{"kueue.x-k8s.io/podset-required-topology": SwitchLabel(1)}
	leaf := func(job string) string {
		leaves := map[string]bool{}
		last := ""
		for _, node := range s.running(t, "fabric", job, 2) {
			for _, w := range s.c.Workers {
				if w.Name == node {
					last = w.Switches[1]
					leaves[last] = true
				}
			}
		}
		if len(leaves) != 1 {
			t.Errorf("%s is under %v", job, leaves)
		}
		return last
	}
	s.submit(t, "fabric", "wide", ask{pods: 5, gpus: 4, annotations: wish})
	s.waiting(t, "fabric", "wide", `topology \"fabric\" allows to fit only 4 out of 5 pod(s)`)
	s.used(t, "fabric", 0)
	s.submit(t, "fabric", "one", ask{pods: 2, gpus: 8, annotations: wish})
	first := leaf("one")
	s.submit(t, "fabric", "two", ask{pods: 2, gpus: 8, annotations: wish})
	if second := leaf("two"); second == first {
		t.Errorf("both jobs are under %s", first)
	}
	s.used(t, "fabric", 32)
}

// higherGoesFirst checks that a job of a higher class displaces the whole of a
// lower one of its team, which comes back whole; and that an equal one waits.
func higherGoesFirst(t *testing.T, s *site) {
	s.submit(t, "ranked", "low", ask{pods: 2, gpus: 4, priority: "training"})
	s.running(t, "ranked", "low", 2)
	s.submit(t, "ranked", "equal", ask{pods: 1, gpus: 4, priority: "training"})
	s.waiting(t, "ranked", "equal", "insufficient unused quota for nvidia.com/gpu in flavor v100, 4 more needed")
	s.running(t, "ranked", "low", 2)
	s.submit(t, "ranked", "high", ask{pods: 1, gpus: 8, priority: "urgent"})
	s.running(t, "ranked", "high", 1)
	s.waiting(t, "ranked", "low", "Preempted to accommodate a workload")
	s.used(t, "ranked", 8)
	s.finish(t, "ranked", "high", 1)
	s.running(t, "ranked", "low", 2)
	if waits := kubetest.At(s.get(t, jobPath("ranked", "equal")), "spec", "suspend"); waits != true {
		t.Error("the younger job came before the one that was displaced")
	}
}

// nothingGetsAround checks that whatever a team makes waits for its quota, with
// no queue named anywhere: a lone pod, a job, a deployment, a stateful set. And
// nobody takes the gate off a pod.
func nothingGetsAround(t *testing.T, s *site) {
	s.submit(t, "lone", "holder", ask{pods: 1, gpus: 4})
	s.running(t, "lone", "holder", 1)
	lone := s.as("lone")
	pod := s.template("lone", 1, nil)
	pod["apiVersion"], pod["kind"], pod["metadata"] = "v1", "Pod", map[string]any{"name": "p", "namespace": "lone"}
	objects := []map[string]any{pod}
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		template := s.template("lone", 1, nil)
		template["metadata"] = map[string]any{"labels": map[string]any{"app": kind}}
		template["spec"].(map[string]any)["restartPolicy"] = "Always"
		spec := map[string]any{"replicas": 1, "selector": map[string]any{"matchLabels": map[string]any{"app": kind}}, "template": template}
		objects = append(objects, map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": strings.ToLower(kind), "namespace": "lone"}, "spec": spec})
	}
	for _, object := range objects {
		createJSON(t, lone, object)
	}
	s.submit(t, "lone", "j", ask{pods: 1, gpus: 1})
	s.waiting(t, "lone", "j", "insufficient unused quota for nvidia.com/gpu in flavor t4, 1 more needed")
	s.Eventually(t, "/api/v1/namespaces/lone/pods", func(list map[string]any) bool {
		held := 0
		for _, pod := range items(list) {
			if strings.Contains(string(encoded(t, pod)), `"schedulingGates":[{"name":"kueue.x-k8s.io/admission"}`) {
				held++
			}
		}
		return held == len(objects)
	})
	for user, gates := range map[*kubetest.API]string{lone: "[]", s.API: "null"} {
		_, err := user.Do(t.Context(), "PATCH", "/api/v1/namespaces/lone/pods/p", []byte(`{"spec":{"schedulingGates":`+gates+`}}`))
		refusedWith(t, err, "only the queue takes its gate off a pod")
	}
	s.finish(t, "lone", "holder", 1)
	s.used(t, "lone", 4)
	s.Eventually(t, "/api/v1/namespaces/lone/pods?fieldSelector=status.phase%3DRunning", func(list map[string]any) bool { return len(items(list)) == 4 })
}
