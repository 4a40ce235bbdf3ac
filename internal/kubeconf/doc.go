// Package kubeconf writes the files that make hosts members of a Kubernetes
// cluster, byte for byte, from a plain description of the cluster.
//
// The usual path: fill a [Cluster], ask [Check] for every problem at once, then
// [Render] the [FileSet]. The same description always gives the same bytes. What
// real servers and the lab's hosts differ in is in [Overrides] and nowhere else.
//
// Nothing in a set is a secret: a host that joins is given its credential at that
// moment, as the file that [Discovery] writes.
package kubeconf
