package kubeconf

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// TestServerTakesMetricsServer puts the objects of metrics-server to a real API
// server, which refuses fields that it does not know.
func TestServerTakesMetricsServer(t *testing.T) {
	set, err := Render(samples()["full"])
	if err != nil {
		t.Fatal(err)
	}
	api := kubetest.Start(t)
	api.Soon(t, func() error {
		return api.Try(t.Context(), []byte(`{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"a","namespace":"kube-system"}}`))
	})
	found := 0
	for _, file := range set.Objects {
		if !strings.HasSuffix(file.Path, "metrics-server.yaml") {
			continue
		}
		for _, text := range strings.Split(file.Content, "\n---\n") {
			found++
			if err := api.Try(t.Context(), []byte(text)); err != nil {
				t.Errorf("%v in\n%s", err, text)
			}
		}
	}
	if found == 0 {
		t.Error("there are no such objects")
	}
}
