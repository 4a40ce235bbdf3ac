package queues

import (
	"fmt"
	"slices"
	"strconv"
)

// Cluster is what teams share, and how. The zero value of a field means what
// its comment says.
type Cluster struct {
	// ControlPlanes is how many hosts run the API, and Kueue beside it. Default 1.
	ControlPlanes int
	// Workers are the hosts that run pods.
	Workers []Worker
	// Teams in the order in which their objects are made.
	Teams []Team
	// PriorityClasses that a job can have.
	PriorityClasses []PriorityClass
	// Preemption says which running jobs a waiting one may displace.
	Preemption Preemption
	// ReadyTimeout is how long all pods of an admitted job may take until they
	// run, as a Go duration; images are pulled within it. Past it the job goes
	// back into its queue and holds nothing. Default "10m".
	ReadyTimeout string
	// StrictGroups makes each pod say that groups which its image gives to its
	// user do not count (supplementalGroupsPolicy Strict), as if an image could
	// not be made by a team itself. It takes hosts with containerd 2.0 or newer.
	// Default false.
	StrictGroups bool
	// ServiceMonitors has Kueue watched by Prometheus, whose custom resource
	// definitions must be there. Default false.
	ServiceMonitors bool
}

// Worker is a host that runs pods.
type Worker struct {
	// Name of the host.
	Name string
	// GPUType of its GPUs. Empty: it has none.
	GPUType string
	// Switches above the host, from the top of the fabric to its leaf. Empty on
	// every host: the cluster has no topology.
	Switches []string
	// Taints of the host.
	Taints []Taint
}

// Team is a tenant: people, a namespace of their own, and quotas.
type Team struct {
	// Name of the team and of its queue, a DNS label.
	Name string
	// Namespace in which the team works, a DNS label.
	Namespace string
	// Users and Groups are the names of its people, as the API server knows them.
	Users, Groups []string
	// UIDs and GIDs are those of its people: the only ones that the team's pods
	// run with. With none of either, no pod can run.
	UIDs, GIDs []int
	// Cohort is shared by teams that lend each other what they do not use. Empty:
	// the team lends and borrows nothing.
	Cohort string
	// Weight is the team's share of what its cohort has to lend. Default 1.
	Weight int
	// Quotas in the order in which types are tried for a job that names none. Of
	// a type that is not here the team gets none.
	Quotas []Quota
}

// Quota is how many GPUs of a type a team has.
type Quota struct {
	// GPUType is one that a worker has.
	GPUType string
	// Nominal is how many are the team's own.
	Nominal int
	// Borrowing is how many it may use beyond them. Nil: all that is lent.
	Borrowing *int
	// Lending is how many of its own it lends. Nil: all that it does not use.
	Lending *int
}

// PriorityClass is a priority that a job can have.
type PriorityClass struct {
	// Name is a DNS label.
	Name string
	// Value by which jobs are ordered; higher goes first.
	Value int
	// Description says what it is for.
	Description string
}

// Preemption says which running jobs a waiting job may displace, in Kueue's own
// words.
type Preemption struct {
	// WithinTeam is "Never", "LowerPriority" or "LowerOrNewerEqualPriority".
	// Default "LowerPriority".
	WithinTeam string
	// Reclaim is about jobs that use what the team has lent: "Never",
	// "LowerPriority" or "Any". Default "Any".
	Reclaim string
}

// Labels of nodes that the objects read.
const (
	// GPULabel holds a node's type of GPU, or [NoGPU].
	GPULabel = "gpucluster/gpu"
	// NoGPU is the value of [GPULabel] of a node without GPUs.
	NoGPU = "none"

	hostLabel = "kubernetes.io/hostname"
)

// SwitchLabel is the label that holds a node's switch of a level; 0 is the top
// of the fabric.
func SwitchLabel(level int) string { return "gpucluster/switch-" + strconv.Itoa(level) }

// Labels are those that the node of a worker must have.
func (w Worker) Labels() map[string]string {
	labels := map[string]string{GPULabel: w.gpu()}
	for level, name := range w.Switches {
		labels[SwitchLabel(level)] = name
	}
	return labels
}

// gpu is the value of [GPULabel].
func (w Worker) gpu() string {
	if w.GPUType == "" {
		return NoGPU
	}
	return w.GPUType
}

// levels is how many switches there are above every worker. Kueue places no pod
// on a node that lacks a level of its topology.
func (c Cluster) levels() int {
	if len(c.Workers) == 0 {
		return 0
	}
	least := len(c.Workers[0].Switches)
	for _, w := range c.Workers {
		least = min(least, len(w.Switches))
	}
	return least
}

// gpus lists the values of [GPULabel] that workers have, in order; nodes without
// GPUs come first.
func (c Cluster) gpus() []string {
	var types []string
	without := false
	for _, w := range c.Workers {
		if w.GPUType == "" {
			without = true
		} else {
			types = append(types, w.GPUType)
		}
	}
	slices.Sort(types)
	types = slices.Compact(types)
	if without {
		types = append([]string{NoGPU}, types...)
	}
	return types
}

// defaults
const (
	defaultReadyTimeout = "10m"
	defaultWithinTeam   = "LowerPriority"
	defaultReclaim      = "Any"
)

func (c Cluster) withDefaults() Cluster {
	c.ControlPlanes = max(c.ControlPlanes, 1)
	for _, d := range []struct {
		field *string
		value string
	}{
		{&c.ReadyTimeout, defaultReadyTimeout}, {&c.Preemption.WithinTeam, defaultWithinTeam}, {&c.Preemption.Reclaim, defaultReclaim},
	} {
		if *d.field == "" {
			*d.field = d.value
		}
	}
	c.Teams = slices.Clone(c.Teams)
	for i := range c.Teams {
		if c.Teams[i].Weight == 0 {
			c.Teams[i].Weight = 1
		}
	}
	return c
}

// quotaPath is the path of a team's quota.
func quotaPath(team, quota int) string { return fmt.Sprintf("teams[%d].quotas[%d]", team, quota) }
