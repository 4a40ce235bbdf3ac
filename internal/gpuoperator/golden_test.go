package gpuoperator

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

var update = flag.Bool("update", false, "write the golden files anew")

// samples are clusters of each kind.
func samples() map[string]Cluster {
	h100 := Worker{Name: "gpu1", GPUType: "h100", GPUs: 8}
	return map[string]Cluster{
		// The least: everything on the hosts is there already, or comes with the chart.
		"plain": {Kubernetes: "v1.36.3", Workers: []Worker{h100}},
		// Everything that can be said of hosts with drivers of their own.
		"host": {Kubernetes: "v1.36.3", ToolkitOnHosts: true, NodeFeatures: FeaturesExisting, WithoutMetrics: true,
			Adapters: &Adapters{Interfaces: []string{"ib0", "ib1"}},
			Workers: []Worker{
				{Name: "a", GPUType: "h100", GPUs: 8, Slice: "1g.10gb", Taints: []kubeobject.Taint{{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}}},
				{Name: "b", GPUType: "l40s", GPUs: 4, Shares: 4, Taints: []kubeobject.Taint{{Key: "example.org/render", Effect: "NoExecute"}, {Key: "example.org/soft", Effect: "PreferNoSchedule"}}},
				{Name: "c", GPUType: "l40s", GPUs: 4, Shares: 2, Taints: []kubeobject.Taint{{Key: "example.org/render", Effect: "NoExecute"}}},
				{Name: "d", GPUType: "l40s", GPUs: 4},
			}},
		// Everything that the operators install.
		"operator": {Kubernetes: "v1.36.3", Driver: Driver{Operator: true, Version: "580.126.20", KernelModule: "open"}, NodeFeatures: FeaturesNetwork,
			ServiceMonitors: true, MonitorLabels: map[string]string{"release": "prometheus"}, MixedMIG: true, WithoutCDI: true,
			Adapters: &Adapters{DriverVersion: "doca3.4.0-26.04-0.8.6.0-1"},
			Workers:  []Worker{{Name: "gpu1", GPUType: "h200", GPUs: 8, Slice: "2g.35gb"}}},
		// Claims instead of the device plugin.
		"claims": {Kubernetes: "v1.37.2", DRA: true, Driver: Driver{Operator: true}, Workers: []Worker{h100}},
	}
}

// rendered are all texts of a cluster.
func rendered(t *testing.T, c Cluster) map[string]string {
	t.Helper()
	values, err := Values(c)
	if err != nil {
		t.Fatal(err)
	}
	network, err := NetworkValues(c)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Objects(c)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{"images.txt": strings.Join(Images(c), "\n") + "\n"}
	write := func(name string, text []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	text, err := kubeobject.AsYAML(values)
	write("values.yaml", text, err)
	if network != nil {
		text, err = kubeobject.AsYAML(network)
		write("network-values.yaml", text, err)
	}
	text, err = kubeobject.YAML(append(Namespaces(c), objects...))
	write("objects.yaml", text, err)
	labels := map[string]any{}
	for _, w := range c.Workers {
		labels[w.Name] = map[string]any{"devices": c.Devices(w), "labels": w.Labels()}
	}
	text, err = kubeobject.AsYAML(labels)
	write("nodes.yaml", text, err)
	return texts
}

func TestGolden(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			got := rendered(t, c)
			if again := rendered(t, c); !maps.Equal(got, again) {
				t.Error("two renderings differ")
			}
			for _, file := range slices.Sorted(maps.Keys(got)) {
				golden(t, filepath.Join("testdata", "golden", name, file), got[file])
			}
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
	}
}
