package kueuestep

import (
	"context"
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
)

// answers is a server that gives one answer after the other, and the last again.
func answers(t *testing.T, codes ...int) (kubeconfig string, asked *int) {
	t.Helper()
	return answersWithout(t, "nothing", codes...)
}

// answersWithout is one that lacks a configuration of webhooks.
func answersWithout(t *testing.T, gone string, codes ...int) (kubeconfig string, asked *int) {
	t.Helper()
	asked = new(int)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, ok := strings.CutPrefix(r.URL.Path, registrations); ok {
			if strings.Contains(kind, gone) {
				w.WriteHeader(http.StatusNotFound)
			}
			return
		}
		code := codes[min(*asked, len(codes)-1)]
		*asked++
		body, _ := io.ReadAll(r.Body)
		if r.URL.String() != flavors+"?dryRun=All" || r.Header.Get("Authorization") != "Bearer a-token" || string(body) != `{"kind":"ResourceFlavor"}` {
			t.Errorf("asked %s with %q", r.URL, body)
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"message":"answer %d"}`, *asked)
	}))
	t.Cleanup(server.Close)
	authority := base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	return fmt.Sprintf(`{current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],
		clusters: [{name: k, cluster: {server: "%s", certificate-authority-data: %s}}], users: [{name: u, user: {token: a-token}}]}`, server.URL, authority), asked
}

// TestCaseK55 checks that objects wait until Kueue's webhooks answer, although
// its pods are ready, and that what will not change is not waited for.
func TestCaseK55(t *testing.T) {
	for name, c := range map[string]struct {
		codes []int
		limit string
		asked int
		want  string
	}{
		"at once":               {[]int{201}, "1m", 1, ""},
		"after two refusals":    {[]int{500, 503, 201}, "1m", 3, ""},
		"there already":         {[]int{409}, "1m", 1, ""},
		"never":                 {[]int{500}, "1ns", 1, "which admits no object after 1ns: the API server answers 500: answer 1"},
		"not allowed":           {[]int{403}, "1m", 1, "answers 403"},
		"not known":             {[]int{401}, "1m", 1, "answers 401"},
		"a limit that is none":  {[]int{201}, "soon", 0, "reading the limit"},
		"no kubeconfig at hand": {nil, "1m", 0, "leads to no server"},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig, asked := "{}", new(int)
			if c.codes != nil {
				kubeconfig, asked = answers(t, c.codes...)
			}
			spec, err := json.Marshal(ReadySpec{Flavor: json.RawMessage(`{"kind":"ResourceFlavor"}`), Limit: c.limit})
			if err != nil {
				t.Fatal(err)
			}
			var log strings.Builder
			result, err := ready(context.Background(), step.NewInput(spec, func(entry string) string {
				if entry == step.EnvSecretPrefix+SecretKubeconfig {
					return kubeconfig
				}
				return ""
			}, &log))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("result %v, error %v, want %q", result, err, c.want)
			}
			if *asked != c.asked {
				t.Errorf("asked %d times, want %d", *asked, c.asked)
			}
			if strings.Contains(fmt.Sprint(err, log.String()), "a-token") {
				t.Error("a secret is told")
			}
		})
	}
}

// TestWebhooksGone checks that a cluster in which nobody asks Kueue is not taken for
// one in which it admits everything.
func TestWebhooksGone(t *testing.T) {
	for gone, want := range map[string]string{
		"nothing":    "",
		"mutating":   "there is no kueue-mutating-webhook-configuration",
		"validating": "there is no kueue-validating-webhook-configuration",
	} {
		t.Run(gone, func(t *testing.T) {
			kubeconfig, _ := answersWithout(t, gone, http.StatusCreated)
			spec, err := json.Marshal(ReadySpec{Flavor: json.RawMessage(`{"kind":"ResourceFlavor"}`), Limit: "1ns"})
			if err != nil {
				t.Fatal(err)
			}
			in := step.NewInput(spec, func(entry string) string {
				if entry == step.EnvSecretPrefix+SecretKubeconfig {
					return kubeconfig
				}
				return ""
			}, io.Discard)
			_, waited := ready(t.Context(), in)
			for what, err := range map[string]error{"the step": waited, "the probe": probe(t.Context(), in)} {
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s says %v, want %q", what, err, want)
				}
			}
		})
	}
}
