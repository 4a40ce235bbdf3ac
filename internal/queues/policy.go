package queues

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PolicySpec is a ValidatingAdmissionPolicy's.
type PolicySpec struct {
	FailurePolicy    string       `json:"failurePolicy"`
	MatchConstraints PolicyMatch  `json:"matchConstraints"`
	Variables        []Variable   `json:"variables,omitempty"`
	Validations      []Validation `json:"validations"`
}

// PolicyMatch says which requests a policy judges.
type PolicyMatch struct {
	ResourceRules []ResourceRule `json:"resourceRules"`
}

// ResourceRule names requests.
type ResourceRule struct {
	APIGroups   []string `json:"apiGroups"`
	APIVersions []string `json:"apiVersions"`
	Operations  []string `json:"operations"`
	Resources   []string `json:"resources"`
}

// Variable is an expression with a name.
type Variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// Validation is an expression that must hold.
type Validation struct {
	Expression string `json:"expression"`
	Message    string `json:"message"`
}

// BindingSpec is a ValidatingAdmissionPolicyBinding's.
type BindingSpec struct {
	PolicyName        string       `json:"policyName"`
	ValidationActions []string     `json:"validationActions"`
	MatchResources    BindingMatch `json:"matchResources"`
}

// BindingMatch says in which namespaces a policy holds.
type BindingMatch struct {
	NamespaceSelector Selector `json:"namespaceSelector"`
}

// policy is a policy, and what puts it into force in some namespaces.
func policy(name string, labels map[string]string, in Selector, spec PolicySpec) []Object {
	const api = "admissionregistration.k8s.io/v1"
	spec.FailurePolicy = "Fail"
	return []Object{
		{APIVersion: api, Kind: "ValidatingAdmissionPolicy", Metadata: Meta{Name: name, Labels: labels}, Spec: spec},
		{APIVersion: api, Kind: "ValidatingAdmissionPolicyBinding", Metadata: Meta{Name: name, Labels: labels}, Spec: BindingSpec{
			PolicyName: name, ValidationActions: []string{"Deny"}, MatchResources: BindingMatch{NamespaceSelector: in},
		}},
	}
}

// rule matches requests about objects of the core group, or of others.
func rule(operations, resources []string, groups ...string) ResourceRule {
	if len(groups) == 0 {
		return ResourceRule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Operations: operations, Resources: resources}
	}
	return ResourceRule{APIGroups: groups, APIVersions: []string{"*"}, Operations: operations, Resources: resources}
}

// idPolicy has the team's pods run as its people, whose files they then reach
// and nobody else's. It judges pods when they are made, by whomever; what runs
// already is not stopped when people leave the team. What makes pods is judged
// by its template too, when it is made: a Job would be admitted, and hold its
// quota without ever having a pod. Pod Security refuses hostPath too: here it
// stays refused when somebody lifts that.
func (c Cluster) idPolicy(t Team) []Object {
	of := "team " + t.Name
	uids, gids := list(t.UIDs), list(t.GIDs)
	security := "variables.spec.?securityContext"
	validations := []Validation{
		{"variables.users.all(id, id in " + uids + ")", "set runAsUser of the pod or of each container to an id of " + of + ": " + words(t.UIDs)},
		{"variables.groups.all(id, id in " + gids + ")", "set runAsGroup of the pod or of each container to a group of " + of + ": " + words(t.GIDs)},
		{security + ".?fsGroup.optMap(id, id in " + gids + ").orValue(true)", "leave fsGroup out, or set it to a group of " + of + ": " + words(t.GIDs)},
		{security + ".?supplementalGroups.orValue([]).all(id, id in " + gids + ")", "list only groups of " + of + " as supplementalGroups: " + words(t.GIDs)},
		{"!variables.spec.?volumes.orValue([]).exists(v, has(v.hostPath))", "a volume of " + of + " cannot be a hostPath"},
	}
	if c.StrictGroups {
		validations = append(validations, Validation{security + ".?supplementalGroupsPolicy.orValue('Merge') == 'Strict'", "set supplementalGroupsPolicy of the pod to Strict"})
	}
	return policy("gpucluster-team-"+t.Name, labels(TeamLabel, t.Name), namespaceNamed(t.Namespace), PolicySpec{
		MatchConstraints: PolicyMatch{[]ResourceRule{
			rule([]string{"CREATE"}, []string{"pods"}),
			rule([]string{"UPDATE"}, []string{"pods/ephemeralcontainers"}),
			rule([]string{"CREATE"}, []string{"jobs"}, "batch"),
			rule([]string{"CREATE"}, []string{"deployments", "statefulsets"}, "apps"),
		}},
		Variables:   []Variable{{"spec", "request.resource.resource == 'pods' ? object.spec : object.spec.template.spec"}, effective("users", "runAsUser"), effective("groups", "runAsGroup")},
		Validations: validations,
	})
}

// effective lists a setting of every container, of whichever kind: its own, else
// the pod's, else -1, which is nobody's.
func effective(name, setting string) Variable {
	var parts []string
	for _, containers := range []string{"containers", "initContainers", "ephemeralContainers"} {
		parts = append(parts, fmt.Sprintf("variables.spec.?%s.orValue([]).map(c, c.?securityContext.?%s.orValue(variables.spec.?securityContext.?%s.orValue(-1)))",
			containers, setting, setting))
	}
	return Variable{name, strings.Join(parts, " + ")}
}

// list writes ids as CEL does.
func list(ids []int) string { return "[" + join(sorted(ids)) + "]" }

// words names ids, but not a hundred of them.
func words(ids []int) string {
	const most = 8
	switch ids = sorted(ids); {
	case len(ids) == 0:
		return "it has none"
	case len(ids) > most:
		return join(ids[:most]) + ", ..."
	}
	return join(ids)
}

func sorted(ids []int) []int { return slices.Compact(slices.Sorted(slices.Values(ids))) }

func join(ids []int) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = strconv.Itoa(id)
	}
	return strings.Join(texts, ", ")
}

// rights are what a policy needs to know who asks: a person, or a controller.
var rights = []Variable{
	{"name", "request.userInfo.username"},
	{"person", "!variables.name.startsWith('system:') || variables.name.startsWith('system:serviceaccount:' + request.namespace + ':')"},
}

const owners = ".metadata.?ownerReferences.orValue([])"

// owned keeps a pod or job from being passed off as part of another.
var owned = Validation{
	"!variables.person || object" + owners + " == (request.operation == 'CREATE' ? [] : oldObject" + owners + ")",
	"leave ownerReferences to the controllers that set them",
}

// VolcanoPolicy closes the ways around Volcano that the rights to edit a namespace
// leave open there: another scheduler, a host of one's own choice, another queue,
// and the system's priorities. What belongs to a namespace's team goes to the queue
// of that team's name.
func VolcanoPolicy() []Object {
	const (
		queue = "variables.queue == variables.team"
		group = "'scheduling.k8s.io/group-name' in object.metadata.?annotations.orValue({})"
		named = "object.metadata.?annotations.orValue({})[?'scheduling.volcano.sh/queue-name'].orValue('')"
	)
	return policy("gpucluster-volcano", labels(), Selector{MatchLabels: map[string]string{QueueLabel: string(QueueVolcano)}}, PolicySpec{
		MatchConstraints: PolicyMatch{[]ResourceRule{
			rule([]string{"CREATE", "UPDATE"}, []string{"pods"}),
			rule([]string{"CREATE", "UPDATE"}, []string{"podgroups"}, "scheduling.volcano.sh"),
			rule([]string{"CREATE", "UPDATE"}, []string{"jobs"}, "batch.volcano.sh"),
		}},
		Variables: append([]Variable{
			{"team", "namespaceObject.metadata.labels['" + TeamLabel + "']"},
			{"pod", "object.kind == 'Pod'"},
			{"queue", "variables.pod ? (" + group + " ? variables.team : " + named + ") : object.spec.?queue.orValue('')"},
		}, rights...),
		Validations: []Validation{
			{"!variables.pod || object.spec.schedulerName == 'volcano'", "set schedulerName of the pod to volcano"},
			{"!variables.pod || request.operation != 'CREATE' || !has(object.spec.nodeName)", "leave nodeName to the scheduler"},
			{queue, "the queue is the team's: name it in spec.queue, or for a pod in the annotation scheduling.volcano.sh/queue-name"},
			{"!variables.pod || request.operation != 'CREATE' || !object.spec.?priorityClassName.orValue('').startsWith('system-')",
				"the system's priorities are not for jobs"},
			owned,
		},
	})
}

// queuePolicy closes the ways around a queue that the rights to edit a namespace
// leave open there: to take Kueue's gate off a pod, to pass a pod or job off as
// part of a job that was admitted, and to displace others by the priority of the
// system.
func queuePolicy() []Object {
	const (
		// Not every kind that is matched has a spec: revisions of stateful sets have none.
		gates = ".?spec.?schedulingGates.orValue([])"
		kueue = "system:serviceaccount:" + ManagerNamespace + ":" + release + "-controller-manager"
	)
	return policy("gpucluster-queue", labels(), Selector{MatchLabels: map[string]string{QueueLabel: string(QueueKueue)}}, PolicySpec{
		MatchConstraints: PolicyMatch{[]ResourceRule{
			rule([]string{"CREATE", "UPDATE"}, []string{"pods"}),
			rule([]string{"CREATE", "UPDATE"}, []string{"*"}, "apps", "batch", "jobset.x-k8s.io", "leaderworkerset.x-k8s.io"),
		}},
		Variables: rights,
		Validations: []Validation{
			{"request.operation == 'CREATE' || variables.name == '" + kueue + "' || oldObject" + gates +
				".all(old, !old.name.startsWith('kueue.x-k8s.io/') || object" + gates + ".exists(now, now.name == old.name))",
				"only the queue takes its gate off a pod"},
			owned,
			{"request.operation != 'CREATE' || !object.?spec.?priorityClassName.orValue('').startsWith('system-')",
				"the system's priorities are not for jobs: name a WorkloadPriorityClass"},
		},
	})
}
