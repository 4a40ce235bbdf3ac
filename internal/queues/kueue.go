package queues

import (
	"slices"
)

// kueueAPI is the version of Kueue's objects, which it has stored since 0.16.
const kueueAPI = "kueue.x-k8s.io/v1beta2"

const (
	// topologyName is the name of the cluster's only Topology.
	topologyName = "fabric"
	// noGPUFlavor is the flavour of hosts without GPUs.
	noGPUFlavor = "cpu"
	// gpuResource is what the device plugin calls a GPU of any type.
	gpuResource = "nvidia.com/gpu"
	// podsResource is counted by Kueue for every job.
	podsResource = "pods"
	// unlimited is more pods than any cluster runs.
	unlimited = 1000000
)

// TopologySpec lists the levels of a fabric. It cannot change.
type TopologySpec struct {
	Levels []TopologyLevel `json:"levels"`
}

// TopologyLevel is one level, by the label that says where a node is in it.
type TopologyLevel struct {
	NodeLabel string `json:"nodeLabel"`
}

func topologyObject(switches int) Object {
	spec := TopologySpec{}
	for level := range switches {
		spec.Levels = append(spec.Levels, TopologyLevel{SwitchLabel(level)})
	}
	spec.Levels = append(spec.Levels, TopologyLevel{hostLabel})
	return Object{APIVersion: kueueAPI, Kind: "Topology", Metadata: Meta{Name: topologyName, Labels: labels()}, Spec: spec}
}

// FlavorSpec says which nodes are of a flavour. With a topology, its labels and
// the topology's name cannot change.
type FlavorSpec struct {
	NodeLabels   map[string]string `json:"nodeLabels"`
	NodeTaints   []Taint           `json:"nodeTaints,omitempty"`
	TopologyName string            `json:"topologyName,omitempty"`
}

// flavor is that of the hosts with a type of GPU. It adds no tolerations to
// jobs: a taint that a host was given is for the job itself to tolerate.
func (c Cluster) flavor(gpu, topology string) Object {
	return Object{APIVersion: kueueAPI, Kind: "ResourceFlavor", Metadata: Meta{Name: flavorName(gpu), Labels: labels()}, Spec: FlavorSpec{
		NodeLabels: map[string]string{GPULabel: gpu}, NodeTaints: c.sharedTaints(gpu), TopologyName: topology,
	}}
}

func flavorName(gpu string) string {
	if gpu == NoGPU {
		return noGPUFlavor
	}
	return gpu
}

// sharedTaints are the taints that every host with a type of GPU has and that
// keep pods away: Kueue gives the flavour only to jobs that tolerate them. Those
// of some hosts only are for the placement to mind.
func (c Cluster) sharedTaints(gpu string) []Taint {
	var shared []Taint
	first := true
	for _, w := range c.Workers {
		switch {
		case w.gpu() != gpu:
			continue
		case first:
			shared, first = slices.DeleteFunc(slices.Clone(w.Taints), func(t Taint) bool { return t.Effect == "PreferNoSchedule" }), false
		default:
			shared = slices.DeleteFunc(shared, func(t Taint) bool { return !slices.Contains(w.Taints, t) })
		}
	}
	return shared
}

// QueueSpec is a ClusterQueue's.
type QueueSpec struct {
	CohortName        string          `json:"cohortName,omitempty"`
	NamespaceSelector Selector        `json:"namespaceSelector"`
	QueueingStrategy  string          `json:"queueingStrategy"`
	ResourceGroups    []ResourceGroup `json:"resourceGroups"`
	Preemption        QueuePreemption `json:"preemption"`
	FairSharing       *FairShare      `json:"fairSharing,omitempty"`
	StopPolicy        string          `json:"stopPolicy"`
}

// ResourceGroup is what jobs get together, from one flavour.
type ResourceGroup struct {
	CoveredResources []string      `json:"coveredResources"`
	Flavors          []FlavorQuota `json:"flavors"`
}

// FlavorQuota is what a queue has of a flavour.
type FlavorQuota struct {
	Name      string          `json:"name"`
	Resources []ResourceQuota `json:"resources"`
}

// ResourceQuota is what a queue has of a resource of a flavour.
type ResourceQuota struct {
	Name           string `json:"name"`
	NominalQuota   string `json:"nominalQuota"`
	BorrowingLimit string `json:"borrowingLimit,omitempty"`
	LendingLimit   string `json:"lendingLimit,omitempty"`
}

// QueuePreemption says which jobs make room.
type QueuePreemption struct {
	WithinClusterQueue  string `json:"withinClusterQueue"`
	ReclaimWithinCohort string `json:"reclaimWithinCohort"`
}

// FairShare is a queue's weight in its cohort.
type FairShare struct {
	Weight string `json:"weight"`
}

func (c Cluster) clusterQueue(t Team) Object {
	spec := QueueSpec{
		CohortName:        t.Cohort,
		NamespaceSelector: namespaceNamed(t.Namespace),
		// A job that does not fit lets smaller ones pass. Strict order would leave
		// GPUs idle for as long as the first job waits.
		QueueingStrategy: "BestEffortFIFO",
		ResourceGroups:   []ResourceGroup{{CoveredResources: []string{gpuResource, podsResource}, Flavors: c.quotas(t)}},
		Preemption:       QueuePreemption{WithinClusterQueue: c.Preemption.WithinTeam, ReclaimWithinCohort: c.Preemption.Reclaim},
		StopPolicy:       "None",
	}
	if t.Cohort == "" {
		// There is nobody to reclaim from.
		spec.Preemption.ReclaimWithinCohort = "Never"
	} else {
		spec.FairSharing = &FairShare{Weight: quantity(t.Weight)}
	}
	return Object{APIVersion: kueueAPI, Kind: "ClusterQueue", Metadata: Meta{Name: t.Name, Labels: labels(TeamLabel, t.Name)}, Spec: spec}
}

// quotas lists what a team has of each flavour. Hosts without GPUs come first,
// so that jobs without GPUs go there. A team without any quota still gets the
// flavours, with none of their GPUs, since its other jobs need hosts.
func (c Cluster) quotas(t Team) []FlavorQuota {
	gpus := c.gpus()
	var out []FlavorQuota
	if gpus[0] == NoGPU {
		out = append(out, t.none(NoGPU))
		gpus = gpus[1:]
	}
	for _, q := range t.Quotas {
		out = append(out, FlavorQuota{Name: flavorName(q.GPUType), Resources: []ResourceQuota{
			{Name: gpuResource, NominalQuota: quantity(q.Nominal), BorrowingLimit: limit(q.Borrowing), LendingLimit: limit(q.Lending)},
			{Name: podsResource, NominalQuota: quantity(unlimited)},
		}})
	}
	if len(t.Quotas) == 0 {
		for _, gpu := range gpus {
			out = append(out, t.none(gpu))
		}
	}
	return out
}

// none is a flavour without any GPU of it, not even a borrowed one.
func (t Team) none(gpu string) FlavorQuota {
	quota := ResourceQuota{Name: gpuResource, NominalQuota: "0"}
	if t.Cohort != "" {
		quota.BorrowingLimit = "0"
	}
	return FlavorQuota{Name: flavorName(gpu), Resources: []ResourceQuota{quota, {Name: podsResource, NominalQuota: quantity(unlimited)}}}
}

func limit(n *int) string {
	if n == nil {
		return ""
	}
	return quantity(*n)
}

// LocalQueueSpec leads from a namespace to its queue.
type LocalQueueSpec struct {
	ClusterQueue string `json:"clusterQueue"`
}

// LocalQueueName is that of each namespace's queue: the one to which Kueue sends
// jobs that name none.
const LocalQueueName = "default"

func (t Team) localQueue() Object {
	return Object{APIVersion: kueueAPI, Kind: "LocalQueue",
		Metadata: Meta{Name: LocalQueueName, Namespace: t.Namespace, Labels: labels(TeamLabel, t.Name)}, Spec: LocalQueueSpec{ClusterQueue: t.Name}}
}

func (p PriorityClass) object() Object {
	return Object{APIVersion: kueueAPI, Kind: "WorkloadPriorityClass",
		Metadata: Meta{Name: p.Name, Labels: labels()}, Value: &p.Value, Description: p.Description}
}

// Probe is a flavour that no cluster has, to ask whether Kueue admits objects.
func Probe() Object {
	return Object{APIVersion: kueueAPI, Kind: "ResourceFlavor", Metadata: Meta{Name: "gpucluster-probe"},
		Spec: FlavorSpec{NodeLabels: map[string]string{GPULabel: NoGPU}}}
}
