package kubeapi

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// TestKubeconfigs checks that what cannot be used is refused without being told.
func TestKubeconfigs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":          {"", "leads to no server"},
		"no YAML":          {"canary: [", "is not one"},
		"no such context":  {"{current-context: canary}", "leads to no server"},
		"no base64":        {"{clusters: [{name: k, cluster: {certificate-authority-data: '-canary-'}}]}", "is not one"},
		"no pair of a key": {"{current-context: c, contexts: [{name: c, context: {user: u}}], users: [{name: u, user: {client-certificate-data: Y2FuYXJ5}}]}", "are no pair"},
	} {
		_, err := New([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// FuzzKubeconfig checks that no text makes a client without a server, or an error
// that tells of the text.
func FuzzKubeconfig(f *testing.F) {
	f.Add("{current-context: c, contexts: [{name: c, context: {cluster: k}}], clusters: [{name: k, cluster: {server: s}}]}")
	f.Add("users: [{user: {token: secret}}]")
	f.Fuzz(func(t *testing.T, text string) {
		client, err := New([]byte(text))
		if err == nil && client.server == "" {
			t.Error("a client without a server")
		}
		if err != nil && !strings.HasPrefix(err.Error(), "the kubeconfig") {
			t.Errorf("another error: %v", err)
		}
	})
}

// TestRealServer asks a real API server.
func TestRealServer(t *testing.T) {
	api := kubetest.Start(t)
	text, err := os.ReadFile(api.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	client, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/namespaces"
	for range 2 {
		if err := client.Try(t.Context(), path, []byte(`{"metadata":{"name":"a"}}`)); err != nil {
			t.Errorf("a namespace is refused, or was made: %v", err)
		}
	}
	var refusal *Refusal
	if err := client.Try(t.Context(), path, []byte(`{"metadata":{"name":"A"}}`)); !errors.As(err, &refusal) || refusal.Code != 422 {
		t.Errorf("a wrong name: %v", err)
	}
	if err := client.Try(t.Context(), "/apis/none/v1/things", []byte(`{}`)); !errors.As(err, &refusal) || refusal.Code != 404 {
		t.Errorf("an unknown kind: %v", err)
	}
}
