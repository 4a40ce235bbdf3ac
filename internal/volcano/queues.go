package volcano

import (
	"strconv"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
)

const (
	queueAPI    = "scheduling.volcano.sh/v1beta1"
	topologyAPI = "topology.volcano.sh/v1alpha1"
	gpuResource = "nvidia.com/gpu"
	rootQueue   = "root"
)

// QueueSpec is a Queue's.
type QueueSpec struct {
	Parent string `json:"parent"`
	// Weight is read by no plugin that is on; Volcano wants one.
	Weight int `json:"weight"`
	// Reclaimable says that others get back what they have lent to it.
	Reclaimable bool `json:"reclaimable"`
	// Capability is the most that the queue uses, Deserved what it gets back when
	// others use it, Guarantee what no other ever uses.
	Capability map[string]string `json:"capability,omitempty"`
	Deserved   map[string]string `json:"deserved"`
	Guarantee  Guarantee         `json:"guarantee"`
}

// Guarantee is what is kept for a queue.
type Guarantee struct {
	Resource map[string]string `json:"resource"`
}

func gpus(n int) map[string]string { return map[string]string{gpuResource: strconv.Itoa(n)} }

// own are the GPUs of a team, of all types together.
func own(t queues.Team) (nominal, lent int, most *int) {
	limited := true
	borrowed := 0
	for _, q := range t.Quotas {
		nominal += q.Nominal
		lends := q.Nominal
		if q.Lending != nil {
			lends = *q.Lending
		}
		lent += lends
		if q.Borrowing == nil {
			limited = false
		} else {
			borrowed += *q.Borrowing
		}
	}
	if t.Cohort == "" {
		return nominal, 0, &nominal
	}
	if limited {
		borrowed += nominal
		return nominal, lent, &borrowed
	}
	return nominal, lent, nil
}

// cohorts lists the cohorts with their GPUs, in the order of the teams.
func cohorts(c queues.Cluster) (names []string, total map[string]int) {
	total = map[string]int{}
	for _, t := range c.Teams {
		if t.Cohort == "" {
			continue
		}
		if _, there := total[t.Cohort]; !there {
			names = append(names, t.Cohort)
		}
		nominal, _, _ := own(t)
		total[t.Cohort] += nominal
	}
	return names, total
}

func queue(name string, spec QueueSpec, labels ...string) kubeobject.Object {
	return kubeobject.Object{APIVersion: queueAPI, Kind: "Queue", Metadata: kubeobject.Meta{Name: name, Labels: kubeobject.Labels(labels...)}, Spec: spec}
}

// cohortQueue holds the queues of teams that lend each other GPUs; none but they use
// them.
func cohortQueue(name string, total int) kubeobject.Object {
	return queue(name, QueueSpec{Parent: rootQueue, Weight: 1, Capability: gpus(total), Deserved: gpus(total), Guarantee: Guarantee{gpus(total)}})
}

// teamQueue is a team's. What it does not lend is its guarantee.
func teamQueue(c queues.Cluster, t queues.Team, total map[string]int) kubeobject.Object {
	nominal, lent, most := own(t)
	spec := QueueSpec{Parent: rootQueue, Weight: 1, Deserved: gpus(nominal), Guarantee: Guarantee{gpus(nominal - lent)}}
	if t.Cohort != "" {
		spec.Parent, spec.Reclaimable = t.Cohort, c.Preemption.Reclaim != reclaimNever
		if most == nil || *most > total[t.Cohort] {
			all := total[t.Cohort]
			most = &all
		}
	}
	spec.Capability = gpus(*most)
	return queue(t.Name, spec, queues.TeamLabel, t.Name)
}

// Probe is a queue and a group that no cluster has, to ask whether Volcano admits
// objects.
func Probe() (queueObject, group kubeobject.Object) {
	return queue("gpucluster-probe", QueueSpec{Parent: rootQueue, Weight: 1, Deserved: gpus(0), Guarantee: Guarantee{gpus(0)}}),
		kubeobject.Object{APIVersion: queueAPI, Kind: "PodGroup", Metadata: kubeobject.Meta{Name: "gpucluster-probe", Namespace: "default"},
			Spec: map[string]any{"minMember": 1}}
}
