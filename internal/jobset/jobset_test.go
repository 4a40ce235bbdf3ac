package jobset

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
)

// chart is the folder of JobSet's chart. It skips the test where JobSet's sources
// were not fetched.
func chart(t *testing.T) string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("needs Go's module cache: ", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(cache)), "sigs.k8s.io", "jobset@v"+ChartVersion, "charts", "jobset")
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs JobSet's sources: go mod download sigs.k8s.io/jobset@v%s", ChartVersion)
	}
	return dir
}

// TestTheLabHasIt checks that the lab's JobSet is the one that values are for.
func TestTheLabHasIt(t *testing.T) {
	if "v"+ChartVersion != artifacts.JobSetVersion {
		t.Errorf("values are for %s, the lab's JobSet is %s", ChartVersion, artifacts.JobSetVersion)
	}
	if !slices.ContainsFunc(artifacts.Lab.Images, func(i artifacts.Image) bool { return i.Name == Image }) {
		t.Errorf("the lab has no %s", Image)
	}
}

// TestCaseK78 checks that the chart knows every value that is given: Helm ignores
// the others without a word.
func TestCaseK78(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(chart(t), "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var theirs map[string]any
	if err := yaml.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, ours, theirs map[string]any)
	walk = func(path string, ours, theirs map[string]any) {
		for key, value := range ours {
			other, there := theirs[key]
			if !there {
				t.Errorf("the chart has no value %s.%s", path, key)
			}
			mine, ok := value.(map[string]any)
			known, same := other.(map[string]any)
			if ok && same && len(known) > 0 {
				walk(path+"."+key, mine, known)
			}
		}
	}
	walk("", Values(3), theirs)
	for planes, want := range map[int]int{0: 1, 1: 1, 3: 2} {
		if got := Values(planes)["controller"].(map[string]any)["replicas"]; got != want {
			t.Errorf("%d control planes have %v replicas, want %d", planes, got, want)
		}
	}
}

// TestCaseK67 checks that the chart has its definitions where Helm never renews
// them, and that they can be taken from there, by a step of their own.
func TestCaseK67(t *testing.T) {
	place := filepath.Join(artifacts.DefaultStore(), artifacts.Current, artifacts.ChartsFolder)
	if _, err := os.Stat(place); err != nil {
		t.Skip("needs the lab's charts; make tools ENV=lab-kubernetes makes them: ", err)
	}
	archive, err := helmchart.Fetch(t.Context(), helmchart.Source{Place: place, Name: ReleaseName, Version: ChartVersion})
	if err != nil {
		t.Fatal(err)
	}
	found, err := helmchart.Definitions(archive)
	if err != nil || len(found) != 1 || found[0].Name != "jobsets.jobset.x-k8s.io" {
		t.Errorf("definitions are %v, %v", found, err)
	}
}

// TestWebhooksAskOfJobSetsAlone checks that no other pod depends on JobSet, those
// of the system included.
func TestWebhooksAskOfJobSetsAlone(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(chart(t), "templates", "webhook", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	hooks := 0
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "WebhookConfiguration\n") {
			continue
		}
		for _, hook := range regexp.MustCompile(`(?m)^- name: `).Split(string(text), -1)[1:] {
			hooks++
			if strings.Contains(hook, "- pods\n") && !strings.Contains(hook, "key: jobset.sigs.k8s.io/jobset-name\n      operator: Exists") {
				t.Errorf("it is asked about all pods:\n%s", hook)
			}
		}
	}
	if hooks != 4 {
		t.Errorf("%d webhooks, want 4", hooks)
	}
}
