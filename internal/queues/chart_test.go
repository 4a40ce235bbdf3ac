package queues

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// kueueModule is the folder of Kueue's sources. It skips the test where they
// were not fetched.
func kueueModule(t testing.TB) string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("needs Go's module cache: ", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(cache)), "sigs.k8s.io", "kueue@v"+ChartVersion)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs Kueue's sources: go mod download sigs.k8s.io/kueue@v%s", ChartVersion)
	}
	return dir
}

// TestChartIsTheOneThatIsMade checks that values are written for the Kueue that the
// lab has.
func TestChartIsTheOneThatIsMade(t *testing.T) {
	if "v"+ChartVersion != artifacts.KueueVersion {
		t.Errorf("values are for %s, the lab's Kueue is %s", ChartVersion, artifacts.KueueVersion)
	}
}

func readYAML(t *testing.T, text []byte) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// TestCaseK78 checks that the chart knows every value that we give: Helm ignores
// the others without a word.
func TestCaseK78(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(kueueModule(t), "charts", "kueue", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	chart := readYAML(t, text)
	for name, c := range samples() {
		values, err := Values(c)
		if err != nil {
			t.Fatal(err)
		}
		var walk func(path string, ours, theirs any)
		walk = func(path string, ours, theirs any) {
			mine, ok := ours.(map[string]any)
			known, same := theirs.(map[string]any)
			if !ok || !same || len(known) == 0 {
				return // a value, or a part that the chart leaves to us
			}
			for key, value := range mine {
				other, there := known[key]
				if !there && path != ".controllerManager.manager.resources.limits" {
					t.Errorf("%s: the chart has no value %s.%s", name, path, key)
				}
				walk(path+"."+key, value, other)
			}
		}
		walk("", values, chart)
	}
}

// TestFrameworksAreTheChartsOwn checks that each kind that the chart would have
// queued is queued: one that is left out would be a way around the queue.
func TestFrameworksAreTheChartsOwn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(kueueModule(t), "charts", "kueue", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := readYAML(t, text).(map[string]any)["managerConfig"].(map[string]any)["controllerManagerConfigYaml"].(string)
	var chart struct {
		Integrations struct {
			Frameworks []string `yaml:"frameworks"`
		} `yaml:"integrations"`
	}
	if err := yaml.Unmarshal([]byte(config), &chart); err != nil {
		t.Fatal(err)
	}
	theirs := slices.Sorted(slices.Values(chart.Integrations.Frameworks))
	if ours := slices.Sorted(slices.Values(frameworks)); !slices.Equal(ours, theirs) {
		t.Errorf("queued are %q, the chart has %q", ours, theirs)
	}
}

// TestConfigurationIsKueuesOwn checks each key of our configuration against the
// types that Kueue reads it with; Kueue refuses to start on a key it does not
// know.
func TestConfigurationIsKueuesOwn(t *testing.T) {
	known := keysOf(t, filepath.Join(kueueModule(t), "apis", "config", "v1beta2", "configuration_types.go"))
	// From elsewhere: the head of every file, the leader election of Kubernetes, and a selector.
	for _, key := range []string{"apiVersion", "kind", "leaderElect", "resourceName", "matchLabels"} {
		known[key] = true
	}
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for i := range typ.NumField() {
			key, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if !known[key] {
				t.Errorf("Kueue has no key %s.%s", path, key)
			}
			walk(path+"."+key, typ.Field(i).Type)
		}
	}
	walk("", reflect.TypeFor[Configuration]())
}

// keysOf lists the JSON names of all fields of a Go file.
func keysOf(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			keys[key] = true
		}
		return true
	})
	return keys
}
