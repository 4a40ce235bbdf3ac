package kubetest

import (
	"errors"
	"net/http"
	"testing"
)

func TestPaths(t *testing.T) {
	for object, want := range map[string]string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: a}}":                                      "/api/v1/namespaces",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: b}}":                              "/api/v1/namespaces/b/pods",
		"{apiVersion: batch/v1, kind: Job, metadata: {namespace: b}}":                                 "/apis/batch/v1/namespaces/b/jobs",
		"{apiVersion: x.io/v1beta2, kind: Topology}":                                                  "/apis/x.io/v1beta2/topologies",
		"{apiVersion: x.io/v1beta2, kind: WorkloadPriorityClass}":                                     "/apis/x.io/v1beta2/workloadpriorityclasses",
		"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: 1}": "",
		"{kind: Pod}": "", "[": "",
	} {
		if got, err := collection([]byte(object)); got != want || (err == nil) == (want == "") {
			t.Errorf("%s is made at %q, %v, want %q", object, got, err, want)
		}
	}
}

// TestControlPlane checks that a control plane serves, that it knows people, and
// that its parts do their work.
func TestControlPlane(t *testing.T) {
	api := Start(t, Controllers, Scheduler)
	ctx := t.Context()
	if _, err := api.Create(ctx, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")); err != nil {
		t.Fatal(err)
	}
	api.Eventually(t, "/api/v1/namespaces/a/serviceaccounts/default", func(map[string]any) bool { return true })
	_, err := api.As("somebody").Do(ctx, http.MethodGet, "/api/v1/namespaces/a", nil)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != http.StatusForbidden {
		t.Errorf("somebody reads a namespace: %v", err)
	}
}
