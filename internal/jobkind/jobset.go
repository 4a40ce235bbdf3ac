package jobkind

// JobSet is a set of jobs of several kinds of pods, as training with a leader and
// workers.
var JobSet = Kind{
	Name: "JobSet", Chart: "jobset", Version: "0.11.1", Namespace: "jobset-system",
	MakersCharts: "oci://registry.k8s.io/jobset/charts", Repository: "registry.k8s.io/jobset/jobset",
	Path: "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets",

	values: func(image image, replicas int) map[string]any {
		selector, tolerations := besideTheAPI()
		return map[string]any{
			"image": image.values(),
			// It makes its own certificates.
			"certManager": map[string]any{"enable": false},
			"controller": map[string]any{
				"replicas":            replicas,
				"podDisruptionBudget": map[string]any{"enabled": replicas > 1, "minAvailable": 1},
				"nodeSelector":        selector,
				"tolerations":         tolerations,
				"resources":           resources(),
			},
		}
	},
	probe: map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2",
		"spec": map[string]any{"replicatedJobs": []any{map[string]any{"name": "probe", "template": map[string]any{"spec": map[string]any{
			"template": pods(map[string]any{"restartPolicy": "Never"}),
		}}}}}},
}
