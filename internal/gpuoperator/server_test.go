package gpuoperator

import (
	"encoding/json"
	"maps"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// plainValues are values as a file of Helm's has them.
func plainValues(t *testing.T, c Cluster) map[string]any {
	t.Helper()
	values, err := Values(c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := kubeobject.AsYAML(values)
	if err != nil {
		t.Fatal(err)
	}
	var plain map[string]any
	if err := yaml.Unmarshal(text, &plain); err != nil {
		t.Fatal(err)
	}
	return plain
}

// TestCaseK78 checks that the chart knows every value that we give.
func TestCaseK78(t *testing.T) {
	file := kubetest.Upstream(t, "values", "gpu-operator-"+ChartVersion+".yaml")
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) { kubetest.KnowsValues(t, plainValues(t, c), kubetest.Defaults(t, file)) })
	}
}

// TestVersionsAreTheChartsOwn checks the images and the driver that are told of
// against those of the chart.
func TestVersionsAreTheChartsOwn(t *testing.T) {
	chart := kubetest.Defaults(t, kubetest.Upstream(t, "values", "gpu-operator-"+ChartVersion+".yaml"))
	if got := kubetest.At(chart, "driver", "version"); got != DriverVersion {
		t.Errorf("the chart's driver is %v", got)
	}
	all := map[string]bool{}
	for _, c := range samples() {
		for _, image := range Images(c) {
			all[image] = true
		}
	}
	for _, part := range []string{"devicePlugin", "toolkit", "dcgmExporter", "migManager", "draDriver"} {
		fields := chart[part].(map[string]any)
		image := fields["repository"].(string) + "/" + fields["image"].(string) + ":" + fields["version"].(string)
		if !all[image] {
			t.Errorf("the chart's %s is %s, which no list has", part, image)
		}
	}
}

// merged lays values over those of a chart, as Helm does.
func merged(chart, ours map[string]any) map[string]any {
	out := maps.Clone(chart)
	for key, value := range ours {
		inner, ok := value.(map[string]any)
		under, same := out[key].(map[string]any)
		if ok && same {
			out[key] = merged(under, inner)
		} else {
			out[key] = value
		}
	}
	return out
}

// custom is the object that the chart makes of values: most of them are the fields
// of its spec. What is not is left out, as the chart's template does.
func custom(values map[string]any) map[string]any {
	at := func(part string) map[string]any { return maps.Clone(values[part].(map[string]any)) }
	without := func(fields map[string]any, keys ...string) map[string]any {
		for _, key := range keys {
			delete(fields, key)
		}
		return fields
	}
	object := func(version, kind, name string, spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
	}
	exporter := at("dcgmExporter")
	if values["gpuCluster"].(map[string]any)["deployCR"] == true {
		return object("nvidia.com/v1alpha1", "GPUCluster", "gpu-cluster", map[string]any{
			"draDriver":    without(at("draDriver"), "gpus", "computeDomains"),
			"dcgmExporter": exporter, "daemonsets": without(at("daemonsets"), "labels", "annotations"),
		})
	}
	driver, plugin, manager := at("driver"), at("devicePlugin"), at("migManager")
	driver["useNvidiaDriverCRD"] = driver["nvidiaDriverCRD"].(map[string]any)["enabled"]
	upgrade := maps.Clone(driver["upgradePolicy"].(map[string]any))
	upgrade["podDeletion"] = upgrade["gpuPodDeletion"]
	driver["upgradePolicy"] = without(upgrade, "gpuPodDeletion")
	plugin["config"] = without(maps.Clone(plugin["config"].(map[string]any)), "create", "data")
	manager["config"] = without(maps.Clone(manager["config"].(map[string]any)), "create", "data")
	return object("nvidia.com/v1", "ClusterPolicy", "cluster-policy", map[string]any{
		"operator": map[string]any{}, "daemonsets": at("daemonsets"), "driver": without(driver, "nvidiaDriverCRD"), "toolkit": at("toolkit"),
		"devicePlugin": plugin, "dcgm": at("dcgm"), "dcgmExporter": exporter, "gfd": at("gfd"), "mig": at("mig"), "migManager": manager,
		"cdi": at("cdi"), "psa": at("psa"), "nodeStatusExporter": at("nodeStatusExporter"),
	})
}

// TestServerTakesEveryObject puts namespaces, and what the chart makes of our
// values, to a real API server that knows the operator's kinds and refuses fields
// that it does not know.
func TestServerTakesEveryObject(t *testing.T) {
	folder := kubetest.Upstream(t, "crds", "gpu-operator")
	chart := kubetest.Defaults(t, kubetest.Upstream(t, "values", "gpu-operator-"+ChartVersion+".yaml"))
	api := kubetest.Start(t)
	api.Define(t, folder)
	for name, c := range samples() {
		var texts [][]byte
		for _, o := range Namespaces(c) {
			text, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, text)
		}
		text, err := json.Marshal(custom(merged(chart, plainValues(t, c))))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(texts, text) {
			if err := api.Try(t.Context(), text); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, text)
			}
		}
	}
}
