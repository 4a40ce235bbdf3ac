package kubetest

import (
	"errors"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	api := Start(t, Controllers, Scheduler, Record)
	ctx := t.Context()
	if err := api.Try(ctx, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: tried}}")); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Create(ctx, []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}")); err != nil {
		t.Fatal(err)
	}
	api.Eventually(t, "/api/v1/namespaces/a/serviceaccounts/default", func(map[string]any) bool { return true })
	if changes := api.Changes(t); !slices.Equal(changes, []string{"create /api/v1/namespaces"}) {
		t.Errorf("recorded is %q", changes)
	}
	t.Run("TestCaseK39", func(t *testing.T) { caseK39(t, api) })
	_, err := api.As("somebody").Do(ctx, http.MethodGet, "/api/v1/namespaces/a", nil)
	var refusal *Refusal
	if !errors.As(err, &refusal) || refusal.Code != http.StatusForbidden {
		t.Errorf("somebody reads a namespace: %v", err)
	}
}

// caseK39 checks that a test never reaches the cluster that somebody has set up
// for work of their own.
func caseK39(t *testing.T, api *API) {
	t.Helper()
	theirs := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(theirs, []byte(`{apiVersion: v1, kind: Config, current-context: work, contexts: [{name: work, context: {cluster: work, user: me}}],
		clusters: [{name: work, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: me, user: {token: t}}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", theirs)
	out, err := api.Kubectl(t, "get", "namespaces", "-o", "name")
	if err != nil || !strings.Contains(string(out), "namespace/a\n") {
		t.Errorf("the test's own cluster is not what is asked: %v\n%s", err, out)
	}
}

// TestCaseK35 checks that no code uses helpers that log what they apply, secrets
// included, and that read the kubeconfig of whoever runs them.
func TestCaseK35(t *testing.T) {
	judged := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." && path != "../..":
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		judged++
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			for _, module := range []string{"k8s", "helm", "terraform"} {
				if imported.Path.Value == `"github.com/gruntwork-io/terratest/modules/`+module+`"` {
					t.Errorf("%s imports %s", path, imported.Path.Value)
				}
			}
		}
		return nil
	})
	if err != nil || judged < 100 {
		t.Errorf("%d files were judged, %v", judged, err)
	}
}
