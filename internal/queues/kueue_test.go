package queues

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// startKueue runs the real Kueue with our configuration beside a control plane:
// with its own service account, webhooks and certificates, as in a cluster.
func startKueue(t *testing.T, api *kubetest.API, c Cluster) {
	t.Helper()
	port := kubetest.FreePort(t)
	address := ownAddress(t)
	manifests, err := api.Kubectl(t, "kustomize", filepath.Join(kueueModule(t), "config", "default"))
	if err != nil {
		t.Fatal(err)
	}
	for decoder := yaml.NewDecoder(bytes.NewReader(manifests)); ; {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch object["kind"] {
		case "Deployment", "APIService":
			continue // it runs here, and serves nothing of the API
		case "Service":
			delete(object["spec"].(map[string]any), "selector")
		}
		createJSON(t, api, object)
	}
	createJSON(t, api, map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
		"metadata": map[string]any{"name": "kueue-webhook", "namespace": ManagerNamespace,
			"labels": map[string]any{"kubernetes.io/service-name": "kueue-webhook-service"}},
		"endpoints": []any{map[string]any{"addresses": []any{address}}},
		"ports":     []any{map[string]any{"port": port}},
	})
	dir := t.TempDir()
	config := asMap(t, Config(c))
	config["namespace"] = ManagerNamespace
	config["webhook"] = map[string]any{"port": port, "certDir": dir}
	config["health"] = map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", kubetest.FreePort(t))}
	config["metrics"] = map[string]any{"bindAddress": "0"}
	config["leaderElection"] = map[string]any{"leaderElect": false}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	go placeCertificate(t, api, dir)
	api.Run(t, "kueue", ManagerNamespace+"/kueue-controller-manager", "--config", file, "--feature-gates", "VisibilityOnDemand=false")
}

// placeCertificate does what a kubelet does: the secret of the webhooks, which
// Kueue fills itself, becomes files.
func placeCertificate(t *testing.T, api *kubetest.API, dir string) {
	for ; t.Context().Err() == nil; time.Sleep(200 * time.Millisecond) {
		secret, err := api.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+ManagerNamespace+"/secrets/kueue-webhook-server-cert", nil)
		if err != nil {
			continue
		}
		data, _ := kubetest.At(secret, "data").(map[string]any)
		for name, value := range data {
			content, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
			if old, _ := os.ReadFile(filepath.Join(dir, name)); err == nil && !bytes.Equal(old, content) {
				_ = os.WriteFile(filepath.Join(dir, name), content, 0o600)
			}
		}
	}
}

// ownAddress is one of this machine that is not the loopback: an EndpointSlice
// takes no other.
func ownAddress(t *testing.T) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	t.Skip("needs an address of this machine that is not the loopback")
	return ""
}

func asMap(t *testing.T, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func createJSON(t *testing.T, api *kubetest.API, object map[string]any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Create(t.Context(), text); err != nil {
		t.Fatalf("%v %v: %v", object["kind"], kubetest.At(object, "metadata", "name"), err)
	}
}

// makeNodes makes the workers' nodes, with what their GPUs would be.
func makeNodes(t *testing.T, api *kubetest.API, c Cluster) {
	t.Helper()
	for _, w := range c.Workers {
		labels := w.Labels()
		labels[hostLabel] = w.Name
		room := map[string]any{"cpu": "96", "memory": "1000Gi", "pods": "110", "ephemeral-storage": "1000Gi", gpuResource: "8"}
		createJSON(t, api, map[string]any{
			"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": w.Name, "labels": labels},
			"status": map[string]any{"capacity": room, "allocatable": room,
				"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Test", "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}}},
		})
		// A new node is closed until it is seen to be ready.
		api.Eventually(t, "/api/v1/nodes/"+w.Name, func(o map[string]any) bool { return kubetest.At(o, "spec", "taints") == nil })
	}
}

// job is one of a team, with GPUs for each pod.
func job(team, name string, uid, pods, gpus int, annotations map[string]any) map[string]any {
	asks := map[string]any{"cpu": "1", "memory": "1Gi"}
	if gpus > 0 {
		asks[gpuResource] = fmt.Sprint(gpus)
	}
	return map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"name": name, "namespace": team},
		"spec": map[string]any{"parallelism": pods, "completions": pods, "template": map[string]any{
			"metadata": map[string]any{"annotations": annotations},
			"spec": map[string]any{
				"restartPolicy":   "Never",
				"securityContext": map[string]any{"runAsNonRoot": true, "runAsUser": uid, "runAsGroup": uid, "seccompProfile": map[string]any{"type": "RuntimeDefault"}},
				"containers": []any{map[string]any{"name": "c", "image": "i", "resources": map[string]any{"limits": asks},
					"securityContext": map[string]any{"allowPrivilegeEscalation": false, "capabilities": map[string]any{"drop": []any{"ALL"}}}}},
			},
		}},
	}
}

func jobPath(team, name string) string { return "/apis/batch/v1/namespaces/" + team + "/jobs/" + name }

func suspended(o map[string]any) bool { return kubetest.At(o, "spec", "suspend") == true }

// podsOf lists a job's pods once the scheduler has given all of them nodes.
func podsOf(t *testing.T, api *kubetest.API, team, job string, pods int) (nodes map[string]string) {
	t.Helper()
	api.Eventually(t, "/api/v1/namespaces/"+team+"/pods?labelSelector=batch.kubernetes.io/job-name="+job, func(list map[string]any) bool {
		nodes = map[string]string{}
		items, _ := list["items"].([]any)
		for _, item := range items {
			if node, ok := kubetest.At(item.(map[string]any), "spec", "nodeName").(string); ok {
				nodes[kubetest.At(item.(map[string]any), "metadata", "name").(string)] = node
			}
		}
		return len(nodes) == pods
	})
	return nodes
}

// finish lets the pods of a job end well.
func finish(t *testing.T, api *kubetest.API, team, job string, pods int) {
	t.Helper()
	for name := range podsOf(t, api, team, job, pods) {
		if _, err := api.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/"+team+"/pods/"+name+"/status", []byte(`{"status":{"phase":"Succeeded"}}`)); err != nil {
			t.Fatal(err)
		}
	}
}

// endPods does what a kubelet does with pods that are to end.
func endPods(t *testing.T, api *kubetest.API, namespace string) {
	t.Helper()
	list, err := api.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+namespace+"/pods", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list["items"].([]any) {
		pod := item.(map[string]any)
		if kubetest.At(pod, "metadata", "deletionTimestamp") != nil {
			_, _ = api.Do(t.Context(), http.MethodDelete, fmt.Sprintf("/api/v1/namespaces/%s/pods/%s?gracePeriodSeconds=0", namespace, kubetest.At(pod, "metadata", "name")), nil)
		}
	}
}

// TestRealKueue lets two teams work with the real Kueue, with our configuration
// and objects. Nobody names a queue, and everything is queued.
func TestRealKueue(t *testing.T) {
	api := kubetest.Start(t, kubetest.Controllers, kubetest.Scheduler)
	c := samples()["lab"]
	startKueue(t, api, c)
	objects, err := Objects(c)
	if err != nil {
		t.Fatal(err)
	}
	// The webhooks answer some moments after the manager runs.
	flavor := encoded(t, asMap(t, Probe()))
	api.Soon(t, func() error { return api.Try(t.Context(), flavor) })
	create(t, api, objects)
	t.Cleanup(func() {
		if t.Failed() {
			explain(t, api)
		}
	})
	makeNodes(t, api, c)
	for _, team := range c.Teams {
		api.Eventually(t, "/api/v1/namespaces/"+team.Namespace+"/serviceaccounts/default", func(map[string]any) bool { return true })
		// A job that comes before Kueue knows the queue is held, but not sent to it.
		api.Eventually(t, "/apis/"+kueueAPI+"/namespaces/"+team.Namespace+"/localqueues/"+LocalQueueName, func(o map[string]any) bool {
			return bytes.Contains(encoded(t, o), []byte(`"status":"True","type":"Active"`))
		})
	}
	alice := api.As("alice", "research")

	t.Run("case K60: a third job waits until the first ends, and those before it run", func(t *testing.T) {
		// Of 24 GPUs the team has 16 and may borrow 4.
		for _, name := range []string{"a", "b", "c"} {
			api.Soon(t, func() error {
				_, err := alice.Create(t.Context(), encoded(t, job("research", name, 20001, 1, 8, nil)))
				return err
			})
			if name != "c" {
				podsOf(t, api, "research", name, 1)
			}
		}
		waiting := api.Eventually(t, "/apis/"+kueueAPI+"/namespaces/research/workloads", func(list map[string]any) bool {
			return bytes.Contains(encoded(t, list), []byte("insufficient unused quota for nvidia.com/gpu in flavor h100, 4 more needed"))
		})
		if items := waiting["items"].([]any); len(items) != 3 {
			t.Errorf("%d jobs are known to Kueue", len(items))
		}
		api.Eventually(t, jobPath("research", "c"), suspended)
		finish(t, api, "research", "a", 1)
		podsOf(t, api, "research", "c", 1)
		finish(t, api, "research", "b", 1)
		finish(t, api, "research", "c", 1)
	})
	t.Run("a job without GPUs gets hosts", func(t *testing.T) {
		if _, err := alice.Create(t.Context(), encoded(t, job("research", "cpu", 20001, 2, 0, nil))); err != nil {
			t.Fatal(err)
		}
		finish(t, api, "research", "cpu", 2)
	})
	t.Run("a job that wants one leaf gets one", func(t *testing.T) {
		wish := map[string]any{"kueue.x-k8s.io/podset-required-topology": SwitchLabel(1)}
		if _, err := alice.Create(t.Context(), encoded(t, job("research", "leaf", 20001, 2, 8, wish))); err != nil {
			t.Fatal(err)
		}
		for pod, node := range podsOf(t, api, "research", "leaf", 2) {
			if node == "gpu3" {
				t.Errorf("%s is on %s, under another leaf", pod, node)
			}
		}
		finish(t, api, "research", "leaf", 2)
	})
	t.Run("what was borrowed is taken back", func(t *testing.T) {
		lent := []string{"l1", "l2", "l3", "l4", "l5"}
		for _, name := range lent {
			if _, err := alice.Create(t.Context(), encoded(t, job("research", name, 20001, 1, 4, nil))); err != nil {
				t.Fatal(err)
			}
			podsOf(t, api, "research", name, 1)
		}
		bob := api.As("bob", "product")
		if _, err := bob.Create(t.Context(), encoded(t, job("product", "back", 20002, 2, 4, nil))); err != nil {
			t.Fatal(err)
		}
		api.Eventually(t, "/apis/batch/v1/namespaces/research/jobs", func(map[string]any) bool {
			endPods(t, api, "research")
			held, err := api.Do(t.Context(), http.MethodGet, "/apis/batch/v1/namespaces/product/jobs/back", nil)
			return err == nil && kubetest.At(held, "status", "active") == 2.0
		})
		podsOf(t, api, "product", "back", 2)
		back := 0
		for _, name := range lent {
			if o, err := api.Do(t.Context(), http.MethodGet, jobPath("research", name), nil); err != nil {
				t.Error(err)
			} else if suspended(o) {
				back++
			}
		}
		if back != 1 {
			t.Errorf("%d jobs made room, one is enough", back)
		}
	})
	t.Run("a lone pod waits too, and nobody lets it pass", func(t *testing.T) {
		object := asMap(t, json.RawMessage(pod(`"image":"i"`, `"image":"i","resources":{"limits":{"nvidia.com/gpu":"25"}}`)))
		if _, err := alice.Create(t.Context(), encoded(t, object)); err != nil {
			t.Fatal(err)
		}
		made, err := alice.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/research/pods/p", nil)
		if err != nil || kubetest.At(made, "spec", "schedulingGates") == nil {
			t.Fatalf("the pod is not held: %v %v", made, err)
		}
		for user, gates := range map[*kubetest.API]string{alice: "[]", api: "null"} {
			_, err = user.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/research/pods/p", []byte(`{"spec":{"schedulingGates":`+gates+`}}`))
			if err == nil || !bytes.Contains([]byte(err.Error()), []byte("only the queue takes its gate off a pod")) {
				t.Errorf("taking the gate off: %v", err)
			}
		}
	})
	t.Run("case K59: others are left alone", func(t *testing.T) {
		object := job("default", "system", 1, 1, 0, nil)
		if _, err := api.Create(t.Context(), encoded(t, object)); err != nil {
			t.Fatal(err)
		}
		podsOf(t, api, "default", "system", 1)
	})
}

// explain shows what Kueue makes of each job, for a test that has failed.
func explain(t *testing.T, api *kubetest.API) {
	out, err := api.Kubectl(t, "get", "jobs,pods,workloads.kueue.x-k8s.io,clusterqueues.kueue.x-k8s.io", "-A", "-o", "yaml")
	t.Logf("%v\n%s", err, out)
}

func encoded(t *testing.T, object map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
