package queues

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// site is a cluster at work: a real control plane and a real Kueue, with our
// configuration and objects, and simulated nodes.
type site struct {
	*kubetest.API
	c     Cluster
	kueue *manager
}

// newSite runs a cluster whose teams' queues take jobs. What further kinds of
// jobs need is started before Kueue, which looks for them when it starts.
func newSite(t testing.TB, c Cluster, kinds ...func(testing.TB, *kubetest.API)) *site {
	t.Helper()
	s := &site{API: kubetest.Start(t, kubetest.Controllers, kubetest.Scheduler), c: c}
	for _, start := range kinds {
		start(t, s.API)
	}
	s.kueue = installKueue(t, s.API)
	s.Simulate(t)
	makeNodes(t, s.API, c)
	s.kueue.start(t, c)
	objects, err := Objects(c)
	if err != nil {
		t.Fatal(err)
	}
	create(t, s.API, objects)
	t.Cleanup(func() {
		if t.Failed() {
			explain(t, s.API)
		}
	})
	for _, team := range c.Teams {
		s.Eventually(t, "/api/v1/namespaces/"+team.Namespace+"/serviceaccounts/default", func(map[string]any) bool { return true })
		// A job that comes before Kueue knows the queue is held, but not sent to it.
		s.Eventually(t, "/apis/"+kueueAPI+"/namespaces/"+team.Namespace+"/localqueues/"+LocalQueueName, func(o map[string]any) bool {
			return bytes.Contains(encoded(t, o), []byte(`"status":"True","type":"Active"`))
		})
	}
	return s
}

// explain shows what Kueue makes of each job, for a test that has failed.
func explain(t testing.TB, api *kubetest.API) {
	out, err := api.Kubectl(t, "get", "jobs,pods,workloads.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io", "-A", "-o", "yaml")
	t.Logf("%v\n%s", err, out)
}

// makeNodes makes the workers' nodes, of eight GPUs each, and waits until they
// take pods: a new node is closed until it is seen to be ready.
func makeNodes(t testing.TB, api *kubetest.API, c Cluster) {
	t.Helper()
	for _, w := range c.Workers {
		labels := w.Labels()
		labels[hostLabel] = w.Name
		room := map[string]any{"cpu": "96", "memory": "1000Gi", "pods": "110", "ephemeral-storage": "1000Gi", gpuResource: "8"}
		createJSON(t, api, map[string]any{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": w.Name, "labels": labels},
			"status": map[string]any{"capacity": room, "allocatable": room},
		})
	}
	api.Eventually(t, "/api/v1/nodes", func(list map[string]any) bool {
		return !bytes.Contains(encoded(t, list), []byte(`"key":"node.kubernetes.io/`))
	})
}

// as is the API server as one of a team's people.
func (s *site) as(team string) *kubetest.API { return s.As("one-of-"+team, team) }

// uid is that of a team's people.
func (s *site) uid(team string) int {
	for _, t := range s.c.Teams {
		if t.Name == team {
			return t.UIDs[0]
		}
	}
	return 0
}

// ask is what a job wants beside its name: pods, each with GPUs, and what its
// metadata and its pods' say.
type ask struct {
	pods, gpus  int
	priority    string
	annotations map[string]any
	// gpu is the type of GPU; "" is any that the team has.
	gpu string
}

// template is a pod of a team that its policies let pass.
func (s *site) template(team string, gpus int, annotations map[string]any) map[string]any {
	asks := map[string]any{"cpu": "1", "memory": "1Gi"}
	if gpus > 0 {
		asks[gpuResource] = fmt.Sprint(gpus)
	}
	id := s.uid(team)
	return map[string]any{
		"metadata": map[string]any{"annotations": annotations},
		"spec": map[string]any{
			"restartPolicy":   "Never",
			"securityContext": map[string]any{"runAsNonRoot": true, "runAsUser": id, "runAsGroup": id, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
			"containers": []any{map[string]any{"name": "c", "image": "i", "resources": map[string]any{"limits": asks},
				"securityContext": map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}}}},
		},
	}
}

// submit makes a job as one of the team's people, who name no queue.
func (s *site) submit(t testing.TB, team, name string, a ask) {
	t.Helper()
	metadata := map[string]any{"name": name, "namespace": team}
	if a.priority != "" {
		metadata["labels"] = map[string]any{"kueue.x-k8s.io/priority-class": a.priority}
	}
	template := s.template(team, a.gpus, a.annotations)
	if a.gpu != "" {
		template["spec"].(map[string]any)["nodeSelector"] = map[string]any{GPULabel: a.gpu}
	}
	object := encoded(t, map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
		"spec": map[string]any{"parallelism": a.pods, "completions": a.pods, "backoffLimit": 0, "template": template},
	})
	if _, err := s.as(team).Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func jobPath(team, name string) string { return "/apis/batch/v1/namespaces/" + team + "/jobs/" + name }

func (s *site) get(t testing.TB, path string) map[string]any {
	t.Helper()
	object, err := s.Do(t.Context(), http.MethodGet, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

// items lists objects.
func items(list map[string]any) []map[string]any {
	found, _ := list["items"].([]any)
	objects := make([]map[string]any, len(found))
	for i, item := range found {
		objects[i] = item.(map[string]any)
	}
	return objects
}

// running waits until a job has all its pods at work, and returns the node of
// each.
func (s *site) running(t testing.TB, team, job string, pods int) (nodes map[string]string) {
	t.Helper()
	s.Eventually(t, "/api/v1/namespaces/"+team+"/pods?labelSelector=batch.kubernetes.io/job-name="+job, func(list map[string]any) bool {
		nodes = map[string]string{}
		for _, pod := range items(list) {
			if kubetest.At(pod, "status", "phase") == "Running" && kubetest.At(pod, "metadata", "deletionTimestamp") == nil {
				nodes[kubetest.At(pod, "metadata", "name").(string)] = kubetest.At(pod, "spec", "nodeName").(string)
			}
		}
		return len(nodes) == pods
	})
	return nodes
}

// waiting waits until a job's workload waits for a reason, and checks that the
// job holds nothing: no pod, and no quota.
func (s *site) waiting(t testing.TB, team, job, reason string) {
	t.Helper()
	s.Eventually(t, "/apis/"+kueueAPI+"/namespaces/"+team+"/workloads", func(list map[string]any) bool {
		for _, workload := range items(list) {
			if strings.HasPrefix(kubetest.At(workload, "metadata", "name").(string), "job-"+job+"-") {
				return strings.Contains(string(encoded(t, workload)), reason) && kubetest.At(workload, "status", "admission") == nil
			}
		}
		return false
	})
	if kubetest.At(s.get(t, jobPath(team, job)), "spec", "suspend") != true {
		t.Errorf("%s of %s waits, and is not suspended", job, team)
	}
	s.Eventually(t, "/api/v1/namespaces/"+team+"/pods?labelSelector=batch.kubernetes.io/job-name="+job, func(list map[string]any) bool { return len(items(list)) == 0 })
}

// used waits until a team's queue has given out so many GPUs.
func (s *site) used(t testing.TB, team string, gpus int) {
	t.Helper()
	s.Eventually(t, "/apis/"+kueueAPI+"/clusterqueues/"+team, func(queue map[string]any) bool { return s.usage(queue) == gpus })
}

func (s *site) usage(queue map[string]any) int {
	total := 0
	usage, _ := kubetest.At(queue, "status", "flavorsUsage").([]any)
	for _, flavor := range usage {
		for _, resource := range flavor.(map[string]any)["resources"].([]any) {
			if kubetest.At(resource.(map[string]any), "name") == gpuResource {
				var n int
				_, _ = fmt.Sscan(fmt.Sprint(kubetest.At(resource.(map[string]any), "total")), &n)
				total += n
			}
		}
	}
	return total
}

// finish lets a job end well.
func (s *site) finish(t testing.TB, team, job string, pods int) {
	t.Helper()
	s.end(t, team, job, pods)
	s.ended(t, team, job)
}

// end lets the pods of a job end well, as a kubelet says it.
func (s *site) end(t testing.TB, team, job string, pods int) {
	t.Helper()
	for name := range s.running(t, team, job, pods) {
		if _, err := s.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/"+team+"/pods/"+name+"/status", []byte(`{"status":{"phase":"Succeeded"}}`)); err != nil {
			t.Fatal(err)
		}
	}
}

// ended waits until a job has ended well.
func (s *site) ended(t testing.TB, team, job string) {
	t.Helper()
	s.Eventually(t, jobPath(team, job), func(o map[string]any) bool { return kubetest.At(o, "status", "completionTime") != nil })
}

// refusedWith checks that a request is refused with some words.
func refusedWith(t testing.TB, err error, words string) {
	t.Helper()
	var refusal *kubetest.Refusal
	if !errors.As(err, &refusal) || !strings.Contains(refusal.Message, words) {
		t.Errorf("error %v, want a refusal with %q", err, words)
	}
}

// atWork is a cluster whose teams do not get in each other's way, but for those
// that share a cohort: each test has a type of GPU of its own.
func atWork() Cluster {
	host := func(name, gpu, leaf string) Worker {
		return Worker{Name: name, GPUType: gpu, Switches: []string{"spine", leaf}}
	}
	c := Cluster{
		Workers: []Worker{
			host("h1", "h100", "leaf1"), host("h2", "h100", "leaf1"), host("h3", "h100", "leaf2"),
			host("l1", "l40s", "leaf3"), host("l2", "l40s", "leaf3"),
			host("a1", "a100", "leaf4"), host("a2", "a100", "leaf4"), host("a3", "a100", "leaf5"), host("a4", "a100", "leaf5"),
			host("b1", "b200", "leaf6"), host("b2", "b200", "leaf6"),
			host("p1", "p100", "leaf8"), host("p2", "p100", "leaf8"),
			host("g1", "a30", "leaf9"), host("g2", "a30", "leaf9"),
			host("v1", "v100", "leaf7"), host("t1", "t4", "leaf7"),
		},
		PriorityClasses: []PriorityClass{{Name: "training"}, {Name: "urgent", Value: 1000}, {Name: "serving", Value: 2000}},
	}
	for i, team := range []Team{
		{Name: "research", Cohort: "lab", Weight: 2, Quotas: []Quota{{GPUType: "h100", Nominal: 16}}},
		{Name: "product", Cohort: "lab", Quotas: []Quota{{GPUType: "h100", Nominal: 8, Borrowing: number(8), Lending: number(4)}}},
		{Name: "idle", Cohort: "shared", Quotas: []Quota{{GPUType: "l40s", Nominal: 12}}},
		{Name: "east", Cohort: "shared", Weight: 2, Quotas: []Quota{{GPUType: "l40s"}}},
		{Name: "west", Cohort: "shared", Weight: 1, Quotas: []Quota{{GPUType: "l40s"}}},
		{Name: "fabric", Quotas: []Quota{{GPUType: "a100", Nominal: 32}}},
		{Name: "answers", Quotas: []Quota{{GPUType: "b200", Nominal: 16}}},
		{Name: "ranked", Quotas: []Quota{{GPUType: "v100", Nominal: 8}}},
		{Name: "sets", Quotas: []Quota{{GPUType: "p100", Nominal: 16}}},
		{Name: "groups", Quotas: []Quota{{GPUType: "a30", Nominal: 16}}},
		{Name: "lone", Quotas: []Quota{{GPUType: "t4", Nominal: 4}}},
	} {
		team.Namespace, team.Groups, team.UIDs, team.GIDs = team.Name, []string{team.Name}, []int{20001 + i}, []int{20001 + i}
		c.Teams = append(c.Teams, team)
	}
	return c
}

// TestRealKueue lets teams work with the real Kueue, with our configuration and
// objects. Nobody names a queue, and everything is queued.
func TestRealKueue(t *testing.T) {
	s := newSite(t, atWork(), started(jobkind.JobSet, "config.jobset.x-k8s.io"), started(jobkind.LeaderWorkerSet, "config.lws.x-k8s.io"))
	t.Run("at once", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *site){
			"quota": quotaIsKept, "fair sharing": sharesAreFair, "racks": racksAreKept, "priority": higherGoesFirst, "serving": servingDisplacesWholeJobs,
			"no way around": nothingGetsAround, "JobSets": jobSetsStartWhole, "LeaderWorkerSets": groupsStartWhole, "case K59": othersAreLeftAlone,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, s)
			})
		}
	})
	t.Run("Kueue is gone, and comes back", s.withoutKueue)
}

// othersAreLeftAlone checks that jobs start at once where no team is.
func othersAreLeftAlone(t *testing.T, s *site) {
	createJSON(t, s.API, map[string]any{"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": "system", "namespace": "default"},
		"spec": map[string]any{"template": s.template("", 0, nil)}})
	s.running(t, "default", "system", 1)
}
