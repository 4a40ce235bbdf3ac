package teamstep

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
)

// server answers with lists by the last part of the path; without one it fails.
func server(t *testing.T, lists map[string]string) string {
	t.Helper()
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, kind := r.URL.Path[:strings.LastIndex(r.URL.Path, "/")], r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		items, ok := lists[kind]
		if !ok || !strings.HasSuffix(path, "/namespaces/team-b") {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, `{"items":[%s]}`, items)
	}))
	t.Cleanup(api.Close)
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}))
	return fmt.Sprintf(`{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],
		clusters: [{name: k, cluster: {server: "%s", certificate-authority-data: %s}}], users: [{name: u, user: {token: a-token}}]}`, api.URL, authority)
}

// TestGuard checks what keeps a team, and what does not.
func TestGuard(t *testing.T) {
	item := func(name, status string) string {
		return fmt.Sprintf(`{"metadata":{"name":%q},"status":{%s}}`, name, status)
	}
	done := `"conditions":[{"type":"Complete","status":"True"}]`
	many := strings.Repeat(item("p", `"phase":"Running"`)+",", 11) + item("last", `"phase":"Pending"`)
	for name, c := range map[string]struct {
		lists    map[string]string
		override string
		want     []string
	}{
		"nothing":                {map[string]string{"pods": "", "jobs": "", "persistentvolumeclaims": ""}, "", nil},
		"what has ended":         {map[string]string{"pods": item("a", `"phase":"Succeeded"`) + "," + item("b", `"phase":"Failed"`), "jobs": item("j", done), "persistentvolumeclaims": ""}, "", nil},
		"a pod":                  {map[string]string{"pods": item("train-0", `"phase":"Running"`), "jobs": "", "persistentvolumeclaims": ""}, "", []string{"team b is at work in namespace team-b", "pod train-0"}},
		"a job that waits":       {map[string]string{"pods": "", "jobs": item("waits", `"conditions":[{"type":"Suspended","status":"True"}]`), "persistentvolumeclaims": ""}, "", []string{"job waits"}},
		"data":                   {map[string]string{"pods": "", "jobs": "", "persistentvolumeclaims": item("checkpoints", `"phase":"Bound"`)}, "", []string{"claim of storage checkpoints"}},
		"many":                   {map[string]string{"pods": many, "jobs": "", "persistentvolumeclaims": ""}, "", []string{"and 2 more of this kind"}},
		"nobody can tell":        {map[string]string{"pods": ""}, "", []string{"nobody can tell", "answers 500"}},
		"and so be it":           {map[string]string{"pods": item("train-0", `"phase":"Running"`)}, "yes", nil},
		"nobody can, so be it":   {nil, "yes", nil},
		"no list of the servers": {map[string]string{"pods": "]"}, "", []string{"nobody can tell"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(hoststep.OverrideVariable, c.override)
			spec, err := json.Marshal(GuardSpec{Team: "b", Namespace: "team-b"})
			if err != nil {
				t.Fatal(err)
			}
			kubeconfig := server(t, c.lists)
			err = remove(t.Context(), step.NewInput(spec, func(entry string) string {
				if entry == step.EnvSecretPrefix+SecretKubeconfig {
					return kubeconfig
				}
				return ""
			}, io.Discard))
			if (err == nil) != (c.want == nil) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}
