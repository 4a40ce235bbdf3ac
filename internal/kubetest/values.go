package kubetest

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// Defaults reads the values.yaml of a chart.
func Defaults(t testing.TB, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	return values
}

// KnowsValues checks that a chart has each value that is given: Helm ignores the
// others without a word. Parts that the chart leaves empty are whoever's that gives
// them; free names parts whose keys are free although the chart has some.
func KnowsValues(t testing.TB, given, chart map[string]any, free ...string) {
	t.Helper()
	var walk func(path string, ours, theirs any)
	walk = func(path string, ours, theirs any) {
		mine, ok := ours.(map[string]any)
		known, same := theirs.(map[string]any)
		if !ok || !same || len(known) == 0 || slices.Contains(free, path) {
			return
		}
		for key, value := range mine {
			at := strings.TrimPrefix(path+"."+key, ".")
			other, there := known[key]
			if !there {
				t.Errorf("the chart has no value %s", at)
			}
			walk(at, value, other)
		}
	}
	walk("", given, chart)
}
