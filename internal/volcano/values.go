package volcano

import (
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

// The Volcano that is installed.
const (
	// ChartVersion is the release whose values [Values] writes.
	ChartVersion = "1.15.1"
	// Repository is where its makers have the chart.
	Repository = "https://volcano-sh.github.io/helm-charts"
	// ReleaseName is that of the chart; its services are named after it.
	ReleaseName = "volcano"
	// ManagerNamespace is Volcano's.
	ManagerNamespace = "volcano-system"

	controlPlane = "node-role.kubernetes.io/control-plane"
	// admissions are the chart's own: what judges Volcano's kinds. None is about
	// pods: with Volcano down, everybody's would be refused.
	admissions = "/jobs/mutate,/jobs/validate,/podgroups/validate,/queues/mutate,/queues/validate,/hypernodes/validate,/cronjobs/validate"
)

// Configuration is the scheduler's own file.
type Configuration struct {
	Actions string `json:"actions"`
	Tiers   []Tier `json:"tiers"`
}

// Tier is asked before those after it.
type Tier struct {
	Plugins []Plugin `json:"plugins"`
}

// Plugin is a part of the scheduler. What it does not say is on.
type Plugin struct {
	Name              string `json:"name"`
	EnablePreemptable *bool  `json:"enablePreemptable,omitempty"`
	EnableHierarchy   *bool  `json:"enableHierarchy,omitempty"`
}

// Config is what the scheduler is told of a cluster.
func Config(c queues.Cluster) Configuration {
	off, on := false, true
	actions := "enqueue, allocate"
	if c.Preemption.WithinTeam != preemptNever {
		actions += ", preempt"
	}
	if c.Preemption.Reclaim != reclaimNever {
		actions += ", reclaim"
	}
	second := []Plugin{
		{Name: "overcommit"}, {Name: "drf", EnablePreemptable: &off}, {Name: "predicates"},
		// Queues with what each deserves, in a tree; proportion would be by weight, and
		// the two exclude each other.
		{Name: "capacity", EnableHierarchy: &on},
		{Name: "nodeorder"}, {Name: "binpack"},
	}
	if slices.ContainsFunc(c.Workers, func(w queues.Worker) bool { return len(w.Switches) > 0 }) {
		second = append(second, Plugin{Name: "network-topology-aware"})
	}
	return Configuration{actions + ", backfill", []Tier{
		// A gang is not broken by displacing one of its pods.
		{[]Plugin{{Name: "priority"}, {Name: "gang", EnablePreemptable: &off}, {Name: "conformance"}}}, {second},
	}}
}

// Values are those of Volcano's chart, of [ChartVersion], as Helm takes them. It
// fails with [problem.List].
func Values(c queues.Cluster) (map[string]any, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	config, err := kubeobject.AsYAML(Config(c))
	if err != nil {
		return nil, err
	}
	replicas := min(max(c.ControlPlanes, 1), 2)
	return map[string]any{
		"basic": map[string]any{"image_registry": "docker.io", "image_tag_version": "v" + ChartVersion, "image_pull_policy": "IfNotPresent"},
		"custom": map[string]any{
			"admission_enable":   true,
			"admission_replicas": replicas, "controller_replicas": replicas, "scheduler_replicas": replicas,
			"leader_elect_enable": replicas > 1,
			"enabled_admissions":  admissions,
			// Elsewhere Volcano's kinds are nobody's, and its absence is not felt.
			"webhooks_namespace_selector_expressions": []any{
				map[string]any{"key": queues.QueueLabel, "operator": "In", "values": []any{string(queues.QueueVolcano)}},
			},
			"scheduler_config_override": string(config),
			// Beside the API: hosts with GPUs come and go.
			"default_ns":          map[string]any{controlPlane: ""},
			"default_tolerations": []any{map[string]any{"key": controlPlane, "operator": "Exists", "effect": "NoSchedule"}},
		},
	}, nil
}

// Images are those that the chart asks for.
func Images() []string {
	var out []string
	for _, part := range []string{"vc-controller-manager", "vc-scheduler", "vc-webhook-manager"} {
		out = append(out, "docker.io/volcanosh/"+part+":v"+ChartVersion)
	}
	return out
}
