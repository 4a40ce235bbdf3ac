package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"

	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// reach is the way to the cluster's objects, as it is declared.
func reach(t *testing.T) resource.PropertyMap {
	t.Helper()
	for _, args := range pulumitest.Run(t, "s", program(pulumitest.Kubernetes(t))).Resources() {
		if args.Name == "c-api" {
			return args.Inputs
		}
	}
	t.Fatal("there is none")
	return nil
}

// clientSettings are how the plugin asks the API.
func clientSettings(t *testing.T) map[string]any {
	t.Helper()
	settings, ok := reach(t)["kubeClientSettings"].Mappable().(map[string]any)
	if !ok {
		t.Fatalf("the settings are %v", reach(t)["kubeClientSettings"])
	}
	return settings
}

// TestCaseK07 checks that an API that is down is told within seconds.
func TestCaseK07(t *testing.T) {
	if limit, _ := clientSettings(t)["timeout"].(float64); limit < 5 || limit > 30 {
		t.Errorf("an answer may take %v s", limit)
	}
}

// TestCaseK08 checks that nothing is forgotten because a cluster cannot be reached:
// what goes with the cluster is known to.
func TestCaseK08(t *testing.T) {
	for key := range reach(t) {
		if strings.Contains(strings.ToLower(string(key)), "unreachable") {
			t.Errorf("the provider has %s", key)
		}
	}
}

// TestCaseK11 checks that hundreds of objects do not wait for one another's turn.
func TestCaseK11(t *testing.T) {
	settings := clientSettings(t)
	if qps, _ := settings["qps"].(float64); qps < 50 {
		t.Errorf("%v requests a second", settings["qps"])
	}
	if burst, _ := settings["burst"].(float64); burst < 100 {
		t.Errorf("%v requests at once", settings["burst"])
	}
}
