package queues

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCaseK62 checks that each object of Kueue is of the version that it stores,
// so that nothing is converted: conversions fail while an upgrade is under way.
func TestCaseK62(t *testing.T) {
	for name, c := range samples() {
		objects, err := Objects(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range append(objects, Probe()) {
			if strings.Contains(o.APIVersion, "kueue") && o.APIVersion != "kueue.x-k8s.io/v1beta2" {
				t.Errorf("%s: %s is of %s", name, o.ID(), o.APIVersion)
			}
		}
	}
}

// TestCaseK89 checks that no value of the chart's probes is relied on: it writes
// another one than the one given.
func TestCaseK89(t *testing.T) {
	for name, c := range samples() {
		values, err := Values(c)
		if err != nil {
			t.Fatal(err)
		}
		for key := range values["controllerManager"].(map[string]any) {
			if strings.HasSuffix(key, "Probe") {
				t.Errorf("%s: gives %s", name, key)
			}
		}
	}
}

// TestCaseK63 checks that nothing asks for workloads by the short name that Kueue
// has given up, nor reads the flavours of a LocalQueue's status.
func TestCaseK63(t *testing.T) {
	given := regexp.MustCompile(`\b(get|describe|delete|wait)[ "',]+(wl|workloads?)\b[^.]|status.flavors\b`)
	judged := 0
	for _, pattern := range []string{"../../docs/*.md", "../../examples/*/*", "../../internal/*/*.go", "../../internal/steps/*/*.go", "../../tests/*/*.go", "../../tools/*.sh"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			judged++
			if at := given.Find(text); at != nil && !strings.HasSuffix(path, "queues/cases_test.go") {
				t.Errorf("%s has %q: write workloads.kueue.x-k8s.io", path, at)
			}
		}
	}
	if judged < 100 {
		t.Errorf("%d files were judged", judged)
	}
}
