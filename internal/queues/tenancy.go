package queues

// Labels of namespaces.
const (
	// QueueLabel says what queues the jobs of a namespace. Kueue's webhooks and
	// Kueue itself see only namespaces where it is [QueueKueue].
	QueueLabel = "gpucluster/queue"
	// QueueKueue is the value of [QueueLabel] where Kueue queues.
	QueueKueue = "kueue"

	// TeamLabel names the team of an object that one team has.
	TeamLabel = "gpucluster/team"

	nameLabel = "kubernetes.io/metadata.name"
)

func namespaceNamed(name string) Selector { return Selector{map[string]string{nameLabel: name}} }

// namespace is the team's. Pods that could do what the host's root can are
// refused there, by Pod Security.
func (t Team) namespace() Object {
	const level = "restricted"
	return Object{APIVersion: "v1", Kind: "Namespace", Metadata: Meta{Name: t.Namespace, Labels: labels(
		TeamLabel, t.Name, QueueLabel, QueueKueue,
		"pod-security.kubernetes.io/enforce", level,
		"pod-security.kubernetes.io/audit", level,
		"pod-security.kubernetes.io/warn", level,
	)}}
}

// RoleRef names the role that a binding gives.
type RoleRef struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

// Subject is who is given a role.
type Subject struct {
	APIGroup string `json:"apiGroup"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
}

const rbac = "rbac.authorization.k8s.io"

// bindings let the team's people work in its namespace, and read there what
// Kueue says about their jobs. None of the roles lets them change queues.
func (t Team) bindings() []Object {
	var people []Subject
	for _, name := range t.Users {
		people = append(people, Subject{rbac, "User", name})
	}
	for _, name := range t.Groups {
		people = append(people, Subject{rbac, "Group", name})
	}
	if len(people) == 0 {
		return nil
	}
	bind := func(name, role string) Object {
		return Object{APIVersion: rbac + "/v1", Kind: "RoleBinding",
			Metadata: Meta{Name: name, Namespace: t.Namespace, Labels: labels(TeamLabel, t.Name)},
			RoleRef:  &RoleRef{rbac, "ClusterRole", role}, Subjects: people}
	}
	return []Object{bind("gpucluster-edit", "edit"), bind("gpucluster-queue", release+"-batch-user-role")}
}

// ClaimsSpec limits how many objects of a kind a namespace has.
type ClaimsSpec struct {
	Hard map[string]string `json:"hard"`
}

// claims forbids the other way to ask for devices, by resource claims: this
// Kueue does not count them, so they would get around the queue. GPUs themselves
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
