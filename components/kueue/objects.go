package kueue

import "github.com/gpucluster/pulumi-gpucluster/internal/queues"

// needs tells whether an object of Kueue's can only be there while an earlier one
// is.
func needs(o, earlier queues.Object) bool {
	switch o.Kind {
	case "ResourceFlavor":
		return earlier.Kind == "Topology"
	case "ClusterQueue":
		return earlier.Kind == "ResourceFlavor"
	case "LocalQueue":
		return earlier.Kind == "ClusterQueue" && earlier.Metadata.Name == o.Spec.(queues.LocalQueueSpec).ClusterQueue
	}
	return false
}
