package queues

import "github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"

// Authority is what queues the jobs of a namespace: the value of [QueueLabel].
type Authority string

// What queues jobs.
const (
	QueueKueue   Authority = "kueue"
	QueueVolcano Authority = "volcano"
)

// role is the ClusterRole by which people read what their queue says about jobs.
func (a Authority) role() string {
	if a == QueueKueue {
		return release + "-batch-user-role"
	}
	return VolcanoRole
}

// VolcanoRole lets people make Volcano's jobs and read its queues. Volcano's chart
// aggregates a role for its jobs into none of Kubernetes' own.
const VolcanoRole = "gpucluster-volcano-user"

// Labels of namespaces.
const (
	// QueueLabel says what queues the jobs of a namespace. Kueue's webhooks and
	// Kueue itself see only namespaces where it is [QueueKueue].
	QueueLabel = "gpucluster/queue"

	// TeamLabel names the team of an object that one team has.
	TeamLabel = "gpucluster/team"

	nameLabel = "kubernetes.io/metadata.name"
)

func namespaceNamed(name string) Selector {
	return Selector{MatchLabels: map[string]string{nameLabel: name}}
}

// namespace is the team's. Pods that could do what the host's root can are
// refused there, by Pod Security.
func (t Team) namespace(by Authority) Object {
	return kubeobject.Namespace(t.Namespace, kubeobject.Restricted, TeamLabel, t.Name, QueueLabel, string(by))
}

const rbac = "rbac.authorization.k8s.io"

// bindings let the team's people work in its namespace, and read there what
// its queue says about their jobs. None of the roles lets them change queues.
func (t Team) bindings(by Authority) []Object {
	var people []Subject
	for _, name := range t.Users {
		people = append(people, Subject{APIGroup: rbac, Kind: "User", Name: name})
	}
	for _, name := range t.Groups {
		people = append(people, Subject{APIGroup: rbac, Kind: "Group", Name: name})
	}
	if len(people) == 0 {
		return nil
	}
	bind := func(name, role string) Object {
		return Object{APIVersion: rbac + "/v1", Kind: "RoleBinding",
			Metadata: Meta{Name: name, Namespace: t.Namespace, Labels: labels(TeamLabel, t.Name)},
			RoleRef:  &RoleRef{APIGroup: rbac, Kind: "ClusterRole", Name: role}, Subjects: people}
	}
	return []Object{bind("gpucluster-edit", "edit"), bind("gpucluster-queue", by.role())}
}

// ClaimsSpec limits how many objects of a kind a namespace has.
type ClaimsSpec struct {
	Hard map[string]string `json:"hard"`
}

// claims forbids the other way to ask for devices, by resource claims: the
// queues do not count them, so they would get around the queue. GPUs themselves
// cannot be limited here, since a quota of a namespace counts what the queue has
// admitted too.
func (t Team) claims() Object {
	return Object{APIVersion: "v1", Kind: "ResourceQuota",
		Metadata: Meta{Name: "gpucluster-queue", Namespace: t.Namespace, Labels: labels(TeamLabel, t.Name)},
		Spec: ClaimsSpec{Hard: map[string]string{
			"count/resourceclaims.resource.k8s.io":         "0",
			"count/resourceclaimtemplates.resource.k8s.io": "0",
		}}}
}
