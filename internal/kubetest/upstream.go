package kubetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/project"
)

// Upstream is a file or folder of what others publish and nobody's module has:
// definitions and values of charts, which lie in shared/data beside the checkout.
// It skips the test where they are missing.
func Upstream(t testing.TB, path ...string) string {
	t.Helper()
	root, err := project.Root()
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(append([]string{root, "..", "shared", "data"}, path...)...)
	if _, err := os.Stat(at); err != nil {
		t.Skipf("needs definitions and values of others, which are not beside the checkout: %v", err)
	}
	return at
}

// Define makes the custom resource definitions in a folder, and waits until they
// are served. It returns their names.
func (a *API) Define(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no definitions in %s: %v", folder, err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		made, err := a.Create(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, At(made, "metadata", "name").(string))
	}
	for _, name := range names {
		made := a.Eventually(t, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"+name, func(o map[string]any) bool {
			text, _ := json.Marshal(At(o, "status", "conditions"))
			return strings.Contains(string(text), `"status":"True","type":"Established"`)
		})
		plural, group, _ := strings.Cut(name, ".")
		for _, version := range At(made, "status", "storedVersions").([]any) {
			a.Eventually(t, "/apis/"+group+"/"+version.(string)+"/"+plural, func(map[string]any) bool { return true })
		}
	}
	return names
}
