package kubeplugin

import (
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

func rule(verb string) map[string]any {
	return map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{verb}}
}

// TestObjectsStayOurs checks that an object can still be changed which is in the
// cluster and not in the state, as a run that was killed leaves it, and one that
// somebody else has changed.
func TestObjectsStayOurs(t *testing.T) {
	needTools(t)
	api := kubetest.Start(t)
	kubeconfig, err := os.ReadFile(api.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	wanted := "get"
	program := func(ctx *pulumi.Context) error {
		cluster, err := provider(ctx, string(kubeconfig), patient)
		if err != nil {
			return err
		}
		_, err = kuberesource.NewObject(ctx, "role", map[string]any{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
			"metadata": map[string]any{"name": "ours", "namespace": "default"}, "rules": []any{rule(wanted)}}, pulumi.Provider(cluster))
		return err
	}
	const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles/ours"
	changes := func(s *stack, to string) {
		t.Helper()
		wanted = to
		if out, err := s.preview(); err != nil {
			t.Errorf("previewing %s: %v\n%s", to, err, out)
		}
		if out, err := s.up(); err != nil {
			t.Fatalf("changing to %s: %v\n%s", to, err, out)
		}
		api.Eventually(t, path, func(o map[string]any) bool {
			rules, _ := o["rules"].([]any)
			return len(rules) == 1 && reflect.DeepEqual(rules[0], rule(to))
		})
		if out, err := s.up(); err != nil || !strings.Contains(out, "unchanged") || strings.Contains(out, "updated") {
			t.Errorf("once more with %s: %v\n%s", to, err, out)
		}
	}
	changes(newStack(t, program), "get")
	lost := newStack(t, program) // its state knows nothing of the object
	changes(lost, "get")
	changes(lost, "list")
	if _, err := api.Do(t.Context(), http.MethodPatch, path, []byte(`{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["delete"]}]}`)); err != nil {
		t.Fatal(err)
	}
	changes(lost, "watch")
}
