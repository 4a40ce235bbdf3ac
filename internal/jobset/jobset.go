// Package jobset says what the API server and JobSet's chart have to know for
// jobs of several kinds of pods to run: its values, and an object to ask whether
// it is ready.
package jobset

const (
	// ChartVersion is the release of JobSet whose values [Values] writes.
	ChartVersion = "0.11.1"
	// ReleaseName is that of its chart, and Namespace where it runs.
	ReleaseName = "jobset"
	Namespace   = "jobset-system"
	// MakersCharts is where its makers have its chart.
	MakersCharts = "oci://registry.k8s.io/jobset/charts"
	// Image is what the chart runs.
	Image = imageRepository + ":v" + ChartVersion
	// Path is where the API takes JobSets of the namespace default.
	Path = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"

	imageRepository = "registry.k8s.io/jobset/jobset"
	controlPlane    = "node-role.kubernetes.io/control-plane"
)

// Values are those of the chart, of [ChartVersion], as Helm takes them, for a
// cluster with so many control planes.
func Values(controlPlanes int) map[string]any {
	replicas := min(max(controlPlanes, 1), 2)
	return map[string]any{
		"image": map[string]any{"repository": imageRepository, "tag": "v" + ChartVersion, "pullPolicy": "IfNotPresent"},
		// It makes its own certificates.
		"certManager": map[string]any{"enable": false},
		"controller": map[string]any{
			"replicas":            replicas,
			"podDisruptionBudget": map[string]any{"enabled": replicas > 1, "minAvailable": 1},
			// Beside the API: hosts with GPUs come and go.
			"nodeSelector": map[string]any{controlPlane: ""},
			"tolerations":  []any{map[string]any{"key": controlPlane, "operator": "Exists", "effect": "NoSchedule"}},
			"resources": map[string]any{
				"requests": map[string]any{"cpu": "100m", "memory": "128Mi"},
				"limits":   map[string]any{"cpu": "2", "memory": "2Gi"},
			},
		},
	}
}

// Probe is a JobSet that no cluster has, to ask whether JobSet admits objects.
func Probe() map[string]any {
	return map[string]any{
		"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": map[string]any{"name": "gpucluster-probe", "namespace": "default"},
		"spec": map[string]any{"replicatedJobs": []any{map[string]any{"name": "probe", "template": map[string]any{"spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "probe", "image": "probe"}}}},
		}}}}},
	}
}
