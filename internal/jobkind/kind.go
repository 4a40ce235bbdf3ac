// Package jobkind says what the API server and Helm charts have to know for
// further kinds of jobs to run, whose pods are made by a controller of their own:
// [JobSet] and [LeaderWorkerSet].
package jobkind

const controlPlane = "node-role.kubernetes.io/control-plane"

// Kind is a kind of jobs with the chart that brings its definition and its
// controller.
type Kind struct {
	// Name as the API has it.
	Name string
	// Chart is the chart's name, and that of its release; Version is the release
	// whose values are written.
	Chart, Version string
	// Namespace in which its controller runs.
	Namespace string
	// MakersCharts is where its makers have the chart.
	MakersCharts string
	// Repository is the name of the controller's image, without its tag.
	Repository string
	// Path is where the API takes objects of the kind in the namespace default.
	Path string

	values func(image image, replicas int) map[string]any
	probe  map[string]any
}

// image is what a chart is told of the controller's image.
type image struct{ repository, tag string }

func (i image) values() map[string]any {
	return map[string]any{"repository": i.repository, "tag": i.tag, "pullPolicy": "IfNotPresent"}
}

// Image is what the chart runs.
func (k Kind) Image() string { return k.Repository + ":v" + k.Version }

// Values are those of the chart, of the kind's version, as Helm takes them, for a
// cluster with so many control planes.
func (k Kind) Values(controlPlanes int) map[string]any {
	return k.values(image{k.Repository, "v" + k.Version}, min(max(controlPlanes, 1), 2))
}

// Probe is an object that no cluster has, to ask whether the kind is admitted.
func (k Kind) Probe() map[string]any {
	return map[string]any{"apiVersion": k.probe["apiVersion"], "kind": k.Name,
		"metadata": map[string]any{"name": "gpucluster-probe", "namespace": "default"}, "spec": k.probe["spec"]}
}

// besideTheAPI keeps a controller off hosts with GPUs, which come and go.
func besideTheAPI() (selector map[string]any, tolerations []any) {
	return map[string]any{controlPlane: ""}, []any{map[string]any{"key": controlPlane, "operator": "Exists", "effect": "NoSchedule"}}
}

// resources are what a controller is given.
func resources() map[string]any {
	return map[string]any{
		"requests": map[string]any{"cpu": "100m", "memory": "128Mi"},
		"limits":   map[string]any{"cpu": "2", "memory": "2Gi"},
	}
}

// pods is the template of a probe's pods.
func pods(spec map[string]any) map[string]any {
	spec["containers"] = []any{map[string]any{"name": "probe", "image": "probe"}}
	return map[string]any{"spec": spec}
}
