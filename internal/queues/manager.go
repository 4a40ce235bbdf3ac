package queues

import (
	"slices"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
)

// Where Kueue runs. Its service account is named after the release.
const (
	// ManagerNamespace is Kueue's.
	ManagerNamespace = "kueue-system"
	// ReleaseName is that of Kueue's chart.
	ReleaseName = release

	release = "kueue"
)

// ChartVersion is the release of Kueue whose values [Values] writes.
const ChartVersion = "0.17.0"

// Configuration is Kueue's own file.
type Configuration struct {
	APIVersion                   string           `json:"apiVersion"`
	Kind                         string           `json:"kind"`
	Health                       Health           `json:"health"`
	Metrics                      Metrics          `json:"metrics"`
	Webhook                      Webhook          `json:"webhook"`
	LeaderElection               LeaderElection   `json:"leaderElection"`
	Controller                   Controller       `json:"controller"`
	ClientConnection             ClientConnection `json:"clientConnection"`
	ManageJobsWithoutQueueName   bool             `json:"manageJobsWithoutQueueName"`
	ManagedJobsNamespaceSelector Selector         `json:"managedJobsNamespaceSelector"`
	WaitForPodsReady             WaitForPodsReady `json:"waitForPodsReady"`
	Integrations                 Integrations     `json:"integrations"`
	FairSharing                  *FairSharing     `json:"fairSharing,omitempty"`
	Resources                    Resources        `json:"resources"`
}

// Health is where probes ask.
type Health struct {
	HealthProbeBindAddress string `json:"healthProbeBindAddress"`
}

// Metrics is where Prometheus asks.
type Metrics struct {
	BindAddress                 string `json:"bindAddress"`
	EnableClusterQueueResources bool   `json:"enableClusterQueueResources"`
}

// Webhook is where the API server asks.
type Webhook struct {
	Port int `json:"port"`
}

// LeaderElection lets one replica decide.
type LeaderElection struct {
	LeaderElect  bool   `json:"leaderElect"`
	ResourceName string `json:"resourceName"`
}

// Controller is how many objects of a kind are worked on at once.
type Controller struct {
	GroupKindConcurrency map[string]int `json:"groupKindConcurrency"`
}

// ClientConnection limits requests to the API server, a second.
type ClientConnection struct {
	QPS   int `json:"qps"`
	Burst int `json:"burst"`
}

// WaitForPodsReady has a job run whole or not at all.
type WaitForPodsReady struct {
	Timeout           string            `json:"timeout"`
	RecoveryTimeout   string            `json:"recoveryTimeout"`
	BlockAdmission    bool              `json:"blockAdmission"`
	RequeuingStrategy RequeuingStrategy `json:"requeuingStrategy"`
}

// RequeuingStrategy says when a job is tried again.
type RequeuingStrategy struct {
	Timestamp          string `json:"timestamp"`
	BackoffBaseSeconds int    `json:"backoffBaseSeconds"`
	BackoffMaxSeconds  int    `json:"backoffMaxSeconds"`
}

// Integrations are the kinds of jobs that are queued.
type Integrations struct {
	Frameworks []string `json:"frameworks"`
}

// FairSharing turns weights on.
type FairSharing struct {
	PreemptionStrategies []string `json:"preemptionStrategies"`
}

// Resources says what quotas count.
type Resources struct {
	ExcludeResourcePrefixes []string `json:"excludeResourcePrefixes"`
}

// frameworks are all that Kueue knows and needs no switch for: a kind whose
// definition comes later is queued from then on, and one that is not listed
// would be a way around the queue.
var frameworks = []string{
	"batch/job", "pod", "deployment", "statefulset", "jobset.x-k8s.io/jobset", "leaderworkerset.x-k8s.io/leaderworkerset",
	"kubeflow.org/mpijob", "kubeflow.org/paddlejob", "kubeflow.org/pytorchjob", "kubeflow.org/tfjob", "kubeflow.org/xgboostjob", "kubeflow.org/jaxjob",
	"trainer.kubeflow.org/trainjob", "ray.io/rayjob", "ray.io/raycluster", "ray.io/rayservice", "workload.codeflare.dev/appwrapper",
}

// notCounted are what jobs ask for beside GPUs.
var notCounted = []string{"cpu", "memory", "ephemeral-storage", "hugepages-", "rdma/", "attachable-volumes-"}

// Config is what Kueue is told of a cluster.
func Config(c Cluster) Configuration {
	c = c.withDefaults()
	config := Configuration{
		APIVersion:     "config.kueue.x-k8s.io/v1beta2",
		Kind:           "Configuration",
		Health:         Health{":8081"},
		Metrics:        Metrics{":8443", true},
		Webhook:        Webhook{9443},
		LeaderElection: LeaderElection{true, "c1f6bfd2.kueue.x-k8s.io"},
		Controller: Controller{map[string]int{
			"Job.batch": 5, "Pod": 5, "Workload.kueue.x-k8s.io": 5,
			"LocalQueue.kueue.x-k8s.io": 1, "Cohort.kueue.x-k8s.io": 1, "ClusterQueue.kueue.x-k8s.io": 1, "ResourceFlavor.kueue.x-k8s.io": 1,
		}},
		ClientConnection: ClientConnection{50, 100},
		// In namespaces of teams every job waits, also one that names no queue;
		// everywhere else jobs start at once.
		ManageJobsWithoutQueueName:   true,
		ManagedJobsNamespaceSelector: Selector{MatchLabels: map[string]string{QueueLabel: string(QueueKueue)}},
		WaitForPodsReady: WaitForPodsReady{
			Timeout:         c.ReadyTimeout,
			RecoveryTimeout: "3m",
			// One job that pulls its image would hold up everybody's admissions.
			BlockAdmission:    false,
			RequeuingStrategy: RequeuingStrategy{"Eviction", 60, 3600},
		},
		Integrations: Integrations{frameworks},
		Resources:    Resources{notCounted},
	}
	if slices.ContainsFunc(c.Teams, func(t Team) bool { return t.Cohort != "" }) {
		config.FairSharing = &FairSharing{[]string{"LessThanOrEqualToFinalShare", "LessThanInitialShare"}}
	}
	return config
}

// Values are those of Kueue's chart, of [ChartVersion], as Helm takes them. It
// fails with [problem.List].
func Values(c Cluster) (map[string]any, error) {
	if problems := Check(c); len(problems) > 0 {
		return nil, problems
	}
	c = c.withDefaults()
	config, err := kubeobject.AsYAML(Config(c))
	if err != nil {
		return nil, err
	}
	replicas := min(c.ControlPlanes, 2)
	return map[string]any{
		// Kueue makes its own certificates; two makers would take turns.
		"enableCertManager": false,
		"enablePrometheus":  c.ServiceMonitors,
		"controllerManager": map[string]any{
			"replicas":            replicas,
			"podDisruptionBudget": map[string]any{"enabled": replicas > 1, "minAvailable": 1},
			// Beside the API: hosts with GPUs come and go.
			"nodeSelector": map[string]any{controlPlane: ""},
			"tolerations":  []any{map[string]any{"key": controlPlane, "operator": "Exists", "effect": "NoSchedule"}},
			"manager": map[string]any{
				"image": map[string]any{"repository": "registry.k8s.io/kueue/kueue", "tag": "v" + ChartVersion, "pullPolicy": "IfNotPresent"},
				// The chart's 512Mi is too little where Kueue keeps a topology.
				"resources": map[string]any{
					"requests": map[string]any{"cpu": "200m", "memory": "256Mi"},
					"limits":   map[string]any{"cpu": "2", "memory": "2Gi"},
				},
			},
		},
		"managerConfig": map[string]any{"controllerManagerConfigYaml": string(config)},
	}, nil
}

const controlPlane = "node-role.kubernetes.io/control-plane"
