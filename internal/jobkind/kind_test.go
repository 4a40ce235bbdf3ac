package jobkind

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// kinds are all, each with what else is known of it.
var kinds = []struct {
	Kind
	// version is that of the lab's module.
	version string
	// definition is the name of what the chart defines.
	definition string
	// marked is how a webhook says that it is asked about the kind's own pods alone.
	marked string
}{
	{JobSet, artifacts.JobSetVersion, "jobsets.jobset.x-k8s.io", "key: jobset.sigs.k8s.io/jobset-name operator: Exists"},
	{LeaderWorkerSet, artifacts.LeaderWorkerSetVersion, "leaderworkersets.leaderworkerset.x-k8s.io", "key: leaderworkerset.sigs.k8s.io/name operator: Exists"},
}

// chart is the folder of a kind's chart. It skips the test where its sources were
// not fetched.
func chart(t *testing.T, k Kind) string {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skip("needs Go's module cache: ", err)
	}
	dir := filepath.Join(strings.TrimSpace(string(cache)), "sigs.k8s.io", k.Chart+"@v"+k.Version, "charts", k.Chart)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs the sources of %s: go mod download sigs.k8s.io/%s@v%s", k.Name, k.Chart, k.Version)
	}
	return dir
}

// TestTheLabHasThem checks that the lab's are those that values are for.
func TestTheLabHasThem(t *testing.T) {
	for _, k := range kinds {
		if "v"+k.Version != k.version {
			t.Errorf("values are for %s %s, the lab's is %s", k.Name, k.Version, k.version)
		}
		if !slices.ContainsFunc(artifacts.Lab.Images, func(i artifacts.Image) bool { return i.Name == k.Image() }) {
			t.Errorf("the lab has no %s", k.Image())
		}
		if !slices.ContainsFunc(artifacts.Lab.Charts, func(c artifacts.Chart) bool { return c.Name == k.Chart && c.Version == k.Version }) {
			t.Errorf("the lab has no chart %s %s", k.Chart, k.Version)
		}
	}
}

// TestGolden pins what charts are told, and what is asked whether a kind is
// admitted.
func TestGolden(t *testing.T) {
	for _, k := range kinds {
		text, err := json.MarshalIndent(map[string]any{"values": k.Values(3), "probe": k.Probe()}, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", k.Chart+".json")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(text)+"\n" != string(want) {
			t.Errorf("%s differs; got:\n%s\nwant:\n%s", file, text, want)
		}
	}
}

// TestCaseK78 checks that the charts know every value that is given: Helm ignores
// the others without a word.
func TestCaseK78(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) {
			kubetest.KnowsValues(t, k.Values(3), kubetest.Defaults(t, filepath.Join(chart(t, k.Kind), "values.yaml")), "resources")
		})
	}
	for planes, want := range map[int]int{0: 1, 1: 1, 3: 2} {
		if got := JobSet.Values(planes)["controller"].(map[string]any)["replicas"]; got != want {
			t.Errorf("%d control planes have %v replicas of JobSet's, want %d", planes, got, want)
		}
		if got := LeaderWorkerSet.Values(planes)["replicaCount"]; got != want {
			t.Errorf("%d control planes have %v replicas of LeaderWorkerSet's, want %d", planes, got, want)
		}
	}
}

// TestCaseK67 checks that the charts have their definitions where Helm never
// renews them, and that they can be taken from there, by a step of their own.
func TestCaseK67(t *testing.T) {
	place := filepath.Join(artifacts.DefaultStore(), artifacts.Current, artifacts.ChartsFolder)
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) {
			source := helmchart.Source{Place: place, Name: k.Chart, Version: k.Version}
			if _, err := os.Stat(filepath.Join(place, k.Chart+"-"+k.Version+".tgz")); err != nil {
				t.Skip("needs the lab's charts; make tools ENV=lab-kubernetes makes them: ", err)
			}
			archive, err := helmchart.Fetch(t.Context(), source)
			if err != nil {
				t.Fatal(err)
			}
			found, err := helmchart.Definitions(archive)
			if err != nil || len(found) != 1 || found[0].Name != k.definition {
				t.Errorf("definitions are %v, %v", found, err)
			}
		})
	}
}

// TestServerTakesThem gives a real API server the definitions, and then what is
// asked whether a kind is admitted: it refuses fields that it does not know.
func TestServerTakesThem(t *testing.T) {
	folders := make([]string, len(kinds))
	for i, k := range kinds {
		folders[i] = filepath.Join(chart(t, k.Kind), "crds")
	}
	api := kubetest.Start(t)
	for i, k := range kinds {
		if got := api.Define(t, folders[i]); !slices.Equal(got, []string{k.definition}) {
			t.Errorf("the chart of %s defines %q, want %s", k.Name, got, k.definition)
		}
		probe, err := json.Marshal(k.Probe())
		if err != nil {
			t.Fatal(err)
		}
		api.Soon(t, func() error { return api.Try(t.Context(), probe) })
		if _, err := api.Do(t.Context(), "GET", k.Path, nil); err != nil {
			t.Errorf("%s: %v", k.Path, err)
		}
	}
}

// TestWebhooksAskOfTheirOwnAlone checks that no other pod depends on a controller
// of these, those of the system included.
func TestWebhooksAskOfTheirOwnAlone(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.Name, func(t *testing.T) {
			found, err := filepath.Glob(filepath.Join(chart(t, k.Kind), "templates", "webhook", "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			hooks := 0
			for _, file := range found {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, part := range strings.Split(string(text), "WebhookConfiguration\n")[1:] {
					// Each begins a list's item, with its name or its versions first.
					for _, hook := range regexp.MustCompile(`(?m)^ *- (?:name|admissionReviewVersions):`).Split(part, -1)[1:] {
						hooks++
						flat := strings.Join(strings.Fields(hook), " ")
						if strings.Contains(flat, "- pods ") && !strings.Contains(flat, k.marked) {
							t.Errorf("it is asked about all pods:\n%s", hook)
						}
					}
				}
			}
			if hooks != 4 {
				t.Errorf("%d webhooks, want 4", hooks)
			}
		})
	}
}
