package kubeconf

import (
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are clusters of each kind.
func samples() map[string]Cluster {
	return map[string]Cluster{
		// The least that a cluster can be, on real servers.
		"plain": {
			Name: "plain", Version: "v1.36.3", Endpoint: "ctl1:6443",
			ControlPlanes: []Node{{Name: "ctl1"}}, Workers: []Node{{Name: "gpu1"}},
		},
		// Everything that can be said, on real servers.
		"full": {
			Name: "full", Version: "v1.36.3", Endpoint: "api.cluster.example:443", PodCIDR: "10.100.0.0/14", ServiceCIDR: "10.104.0.0/18",
			Registry: "https://mirror.example:5000", Images: Images{EtcdTag: "3.6.16-0", Flannel: "ghcr.io/flannel-io/flannel:v0.28.10", MetricsServer: MetricsServerImage},
			ControlPlanes: []Node{{Name: "ctl1", Address: "192.0.2.1"}, {Name: "ctl2", Address: "192.0.2.2"}, {Name: "ctl3", Address: "192.0.2.3"}},
			Workers: []Node{
				{Name: "gpu1", Address: "192.0.2.11", Labels: map[string]string{"topology.example/rack": "r1", "gpu": "h100"},
					Taints: []Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}}, Reserved: Reserved{MilliCPU: 1500, MemoryMiB: 16384, StorageMiB: 51200}},
				{Name: "gpu2", Address: "192.0.2.12", Labels: map[string]string{"topology.example/rack": "r2"}, Reserved: Reserved{MemoryMiB: 8192}},
			},
		},
		// Several control planes, and a balancer on every host; some addresses are names.
		"balanced": {
			Name: "balanced", Version: "v1.36.3", Endpoint: LocalEndpoint,
			ControlPlanes: []Node{{Name: "ctl1", Address: "192.0.2.1"}, {Name: "ctl2", Address: "192.0.2.2"}, {Name: "ctl3"}}, Workers: []Node{{Name: "gpu1"}},
		},
		// Containers that play servers.
		"lab": {
			Name: "lab", Version: "v1.36.3", Endpoint: "ctl1:6443", Registry: "http://artifacts:5000", Images: LabImages(), Overrides: LabOverrides(),
			ControlPlanes: []Node{{Name: "ctl1"}}, Workers: []Node{{Name: "gpu1"}},
		},
	}
}

// golden maps each file's place among the golden files to its content.
func golden(set FileSet) map[string]string {
	m := map[string]string{}
	add := func(kind string, files []File) {
		for _, f := range files {
			m[filepath.Join(kind, f.Path)] = f.Content
		}
	}
	add("node", set.Node)
	add("begin", set.Begin)
	add("objects", set.Objects)
	for host, files := range set.Host {
		add(filepath.Join("host", host), files)
	}
	return m
}

func TestGolden(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			set, err := Render(c)
			if err != nil {
				t.Fatal(err)
			}
			again, err := Render(c)
			if err != nil {
				t.Fatal(err)
			}
			got, dir := golden(set), filepath.Join("testdata", "golden", name)
			if !maps.Equal(got, golden(again)) {
				t.Error("two renderings differ")
			}
			if *update {
				writeGolden(t, dir, got)
			}
			want := readGolden(t, dir)
			for _, path := range slices.Sorted(maps.Keys(got)) {
				if got[path] != want[path] {
					t.Errorf("%s is\n%s\nwant\n%s", path, got[path], want[path])
				}
				if !IsOurs(got[path]) || !strings.HasSuffix(got[path], "\n") || strings.Contains(got[path], "<no value>") {
					t.Errorf("%s: does not say that it is ours, has no newline at its end, or lacks a value", path)
				}
				if strings.HasSuffix(path, ".yaml") {
					wellFormed(t, path, got[path])
				}
			}
			if len(want) != len(got) {
				t.Errorf("%d golden files, %d rendered", len(want), len(got))
			}
		})
	}
}

func writeGolden(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readGolden(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	return found
}

// wellFormed wants every document to name what it is.
func wellFormed(t *testing.T, path, text string) {
	t.Helper()
	if strings.Contains(path, "patches/") {
		return
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	documents := 0
	for {
		var d struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
		}
		if err := decoder.Decode(&d); err != nil {
			if documents == 0 || err.Error() != "EOF" {
				t.Errorf("%s: document %d: %v", path, documents+1, err)
			}
			return
		}
		documents++
		if d.APIVersion == "" || d.Kind == "" {
			t.Errorf("%s: document %d does not say what it is", path, documents)
		}
	}
}
