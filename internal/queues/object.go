package queues

import "github.com/gpucluster/pulumi-gpucluster/internal/kubeobject"

// What objects of every kind are made of.
type (
	// Object is one object of the API server.
	Object = kubeobject.Object
	// Meta names an object.
	Meta = kubeobject.Meta
	// Selector chooses objects by their labels.
	Selector = kubeobject.Selector
	// RoleRef names the role that a binding gives.
	RoleRef = kubeobject.RoleRef
	// Subject is who is given a role.
	Subject = kubeobject.Subject
	// Taint keeps pods away that do not tolerate it.
	Taint = kubeobject.Taint
)
