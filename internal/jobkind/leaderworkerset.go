package jobkind

// LeaderWorkerSet is a set of groups of pods, each with a leader and its workers,
// as a model that is served from several hosts.
var LeaderWorkerSet = Kind{
	Name: "LeaderWorkerSet", Chart: "lws", Version: "0.8.0", Namespace: "lws-system",
	MakersCharts: "oci://registry.k8s.io/lws/charts", Repository: "registry.k8s.io/lws/lws",
	Path: "/apis/leaderworkerset.x-k8s.io/v1/namespaces/default/leaderworkersets",

	values: func(image image, replicas int) map[string]any {
		selector, tolerations := besideTheAPI()
		return map[string]any{
			"image": map[string]any{"manager": image.values()},
			// It makes its own certificates.
			"enableCertManager": false,
			"replicaCount":      replicas,
			"nodeSelector":      selector,
			"tolerations":       tolerations,
			"resources":         resources(),
		}
	},
	probe: map[string]any{"apiVersion": "leaderworkerset.x-k8s.io/v1",
		"spec": map[string]any{"replicas": 1, "leaderWorkerTemplate": map[string]any{"size": 1, "workerTemplate": pods(map[string]any{})}}},
}
