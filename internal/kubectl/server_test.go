package kubectl

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// TestRealServer asks and commands a real API server.
func TestRealServer(t *testing.T) {
	api := kubetest.Start(t)
	client := &Client{Runner: api.Runner(t), Poll: time.Millisecond}
	create := func(manifest string) {
		t.Helper()
		if _, err := api.Create(t.Context(), []byte(manifest)); err != nil {
			t.Fatal(err)
		}
	}
	create(`{apiVersion: v1, kind: Node, metadata: {name: gpu1, labels: {feature.example/pci: "true", gpucluster/rack: theirs}}}`)
	create("{apiVersion: v1, kind: Namespace, metadata: {name: drivers}}")
	create("{apiVersion: v1, kind: Namespace, metadata: {name: " + Namespace + "}}")
	t.Run("TestCaseK20", func(t *testing.T) { caseK20(t, api, client) })
	t.Run("TestCaseK52", func(t *testing.T) { caseK52(t, api, client, create) })
}

// caseK20 labels a node beside others who label it: theirs stay, and what somebody
// else has set otherwise is an error, not taken away.
func caseK20(t *testing.T, api *kubetest.API, client *Client) {
	labels := func() map[string]any {
		node, err := api.Do(t.Context(), http.MethodGet, "/api/v1/nodes/gpu1", nil)
		if err != nil {
			t.Fatal(err)
		}
		return kubetest.At(node, "metadata", "labels").(map[string]any)
	}
	for _, ours := range []map[string]string{{"gpucluster/gpu": "h100", "gpucluster/switch-0": "spine"}, {"gpucluster/gpu": "b200"}} {
		if err := client.Label(t.Context(), "gpu1", ours); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(labels()); got != "map[feature.example/pci:true gpucluster/gpu:b200 gpucluster/rack:theirs]" {
		t.Errorf("the labels are %s", got)
	}
	err := client.Label(t.Context(), "gpu1", map[string]string{"gpucluster/rack": "ours"})
	if err == nil || !strings.Contains(err.Error(), "conflict") || !strings.Contains(err.Error(), "gpucluster/rack") ||
		!strings.Contains(err.Error(), "kubectl label node gpu1 NAME-") || labels()["gpucluster/rack"] != "theirs" {
		t.Errorf("what is theirs is taken: %v", err)
	}
}

// caseK52 has a driver that cannot start on a host's kernel, of which only the
// kubelet's events tell: who waits for the GPUs, and for a pod, is told.
func caseK52(t *testing.T, api *kubetest.API, client *Client, create func(string)) {
	const why = `error mounting "/sys/devices/system/memory/auto_online_blocks": no such file or directory`
	warning := func(namespace, pod string) {
		create("{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: " + namespace + ", name: default}}")
		create(`{apiVersion: v1, kind: Event, metadata: {namespace: ` + namespace + `, name: e}, type: Warning, reason: Failed, message: '` + why + `',
			involvedObject: {kind: Pod, namespace: ` + namespace + `, name: ` + pod + `}, lastTimestamp: "2026-01-01T00:00:00Z"}`)
	}
	warning("drivers", "driver")
	create(`{apiVersion: v1, kind: Pod, metadata: {namespace: drivers, name: driver}, spec: {nodeName: gpu1, automountServiceAccountToken: false, containers: [{name: c, image: i}]}}`)
	ready := `{"status": {"conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}], "allocatable": {"nvidia.com/gpu": "0"}}}`
	if _, err := api.Do(t.Context(), http.MethodPatch, "/api/v1/nodes/gpu1/status", []byte(ready)); err != nil {
		t.Fatal(err)
	}
	err := client.WaitReady(t.Context(), "gpu1", 8, 0)
	if err == nil || !strings.Contains(err.Error(), "it offers 0 GPUs, and 8 are declared\ndrivers/driver on gpu1 is Pending: Failed: "+why) {
		t.Errorf("who waits for the GPUs hears %v", err)
	}
	warning(Namespace, "validate")
	_, err = client.RunCheck(t.Context(), Check{Name: "validate", Node: "gpu1", GPUs: 8, Image: "i", Limit: time.Nanosecond})
	if err == nil || !strings.Contains(err.Error(), Namespace+"/validate is Pending: Failed: "+why) {
		t.Errorf("who waits for a pod hears %v", err)
	}
}
