package gpuoperator

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// each gives the values of every sample.
func each(t *testing.T, judge func(t *testing.T, c Cluster, values map[string]any)) {
	t.Helper()
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) { judge(t, c, plainValues(t, c)) })
	}
}

// TestCaseK40 checks that the toolkit is left at its own file in conf.d, which
// nobody else writes, and that no value leads it to another.
func TestCaseK40(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		if env := kubetest.At(values, "toolkit", "env"); env != nil && strings.Contains(strings.ToUpper(asText(t, env)), "CONTAINERD_CONFIG") {
			t.Errorf("the toolkit is led to %v", env)
		}
	})
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := kubeobject.AsYAML(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestCaseK42 checks that toolkits, each of which restarts its host's containerd,
// roll over one host at a time.
func TestCaseK42(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		if got := kubetest.At(values, "daemonsets", "rollingUpdate", "maxUnavailable"); got != "1" {
			t.Errorf("%v hosts at once", got)
		}
	})
}

// TestCaseK44 checks that a cluster has at most one Node Feature Discovery of ours,
// which looks for network adapters as well as for GPUs.
func TestCaseK44(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		network, err := NetworkValues(c)
		if err != nil {
			t.Fatal(err)
		}
		running := 0
		for _, chart := range []map[string]any{values, network} {
			if kubetest.At(chart, "nfd", "enabled") == true {
				running++
				found := asText(t, kubetest.At(chart, "node-feature-discovery", "worker", "config", "sources", "pci", "deviceClassWhitelist"))
				for _, class := range []string{"02", "0200", "0207", "0300", "0302"} {
					if !strings.Contains(found, `"`+class+`"`) {
						t.Errorf("devices of class %s are not looked for", class)
					}
				}
			}
		}
		if want := map[bool]int{true: 0, false: 1}[c.NodeFeatures == FeaturesExisting]; running != want {
			t.Errorf("%d discoveries run, want %d", running, want)
		}
	})
}

// TestCaseK45 checks that hosts get the label by which the Network Operator finds
// adapters, whoever runs the discovery, and that GPUs use the hosts' OFED where no
// other is installed.
func TestCaseK45(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		network, err := NetworkValues(c)
		if err != nil {
			t.Fatal(err)
		}
		if (network != nil) != (c.Adapters != nil) || network != nil && kubetest.At(network, "nfd", "deployNodeFeatureRules") != true {
			t.Errorf("the Network Operator has values %v", network)
		}
	})
	for want, adapters := range map[bool]*Adapters{true: {}, false: {DriverVersion: "v"}} {
		values := plainValues(t, Cluster{Workers: samples()["plain"].Workers, Driver: Driver{Operator: true}, Adapters: adapters})
		if kubetest.At(values, "driver", "rdma", "enabled") != true || kubetest.At(values, "driver", "rdma", "useHostMofed") != want {
			t.Errorf("with adapters %v the driver has %v", adapters, kubetest.At(values, "driver", "rdma"))
		}
	}
}

// TestCaseK47 checks that the operators' namespaces let in pods that work on hosts,
// and that the operator does not change the labels of namespaces by itself.
func TestCaseK47(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		for _, o := range Namespaces(c) {
			for _, mode := range []string{"enforce", "audit", "warn"} {
				if got := o.Metadata.Labels["pod-security.kubernetes.io/"+mode]; got != "privileged" {
					t.Errorf("%s: %s is %q", o.ID(), mode, got)
				}
			}
		}
		if kubetest.At(values, "psa", "enabled") != false {
			t.Error("the operator labels namespaces")
		}
	})
}

// TestCaseK48 checks that ServiceMonitors are there only where they are asked for,
// since the chart would have them by default, with the labels that a Prometheus
// looks for.
func TestCaseK48(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		monitor := kubetest.At(values, "dcgmExporter", "serviceMonitor").(map[string]any)
		if monitor["enabled"] != c.ServiceMonitors {
			t.Errorf("ServiceMonitors: %v", monitor)
		}
		if labels, _ := monitor["additionalLabels"].(map[string]any); len(labels) != len(c.MonitorLabels) {
			t.Errorf("labels %v, want %v", labels, c.MonitorLabels)
		}
	})
}

// TestCaseK51 checks that claims are refused with a Kubernetes that is too old for
// them.
func TestCaseK51(t *testing.T) {
	for release, refused := range map[string]bool{
		"v1.33.9": true, "v1.34.1": true, "v1.34.2": false, "v1.34.10": false, "v1.36.3": false, "v2.0.0": false, "1.36": false, "v1.34": true, "": true, "vx.y": true,
	} {
		c := samples()["claims"]
		c.Kubernetes = release
		problems := Check(c)
		if got := len(problems) == 1 && problems[0].Path == "dra"; got != refused || len(problems) > 1 {
			t.Errorf("%q: %v", release, problems)
		}
	}
}

// TestCaseK54 checks that no value is null: whether that deletes a chart's own
// value depends on who passes it on.
func TestCaseK54(t *testing.T) {
	var walk func(path string, value any) []string
	walk = func(path string, value any) (found []string) {
		switch value := value.(type) {
		case nil:
			return []string{path}
		case map[string]any:
			for key, inner := range value {
				found = append(found, walk(path+"."+key, inner)...)
			}
		case []any:
			for _, inner := range value {
				found = append(found, walk(path+"[]", inner)...)
			}
		}
		return found
	}
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		if found := walk("", values); len(found) > 0 {
			t.Errorf("null is given for %q", found)
		}
	})
}

// TestOneOwnerEach checks that never both of two that would do the same are on.
func TestOneOwnerEach(t *testing.T) {
	each(t, func(t *testing.T, c Cluster, values map[string]any) {
		on := func(path ...string) bool { return kubetest.At(values, path...) == true }
		if on("clusterPolicy", "deployCR") == on("gpuCluster", "deployCR") || on("devicePlugin", "enabled") == on("gpuCluster", "deployCR") {
			t.Error("pods would ask for GPUs in two ways, or in none")
		}
		if on("driver", "enabled") != c.Driver.Operator || on("toolkit", "enabled") == c.ToolkitOnHosts {
			t.Error("the hosts' own would be installed again")
		}
		names := slices.Sorted(maps.Keys(values["toolkit"].(map[string]any)))
		if c.WithoutCDI && !c.ToolkitOnHosts && !slices.Contains(names, "env") {
			t.Error("no pod would get devices: neither by CDI nor by the runtime that is used by default")
		}
	})
}
