// Package cluster runs real clusters for tests: it writes an environment file,
// calls tools/stack.sh on it as a person would, reads from Pulumi's own event
// log what a run touched, asks the cluster's hosts, and takes everything down
// again.
//
// The usual path is [New], [Cluster.Up], questions with [Cluster.On] and
// [Cluster.Submit], changes of the file with [Cluster.Edit], and [Cluster.Up]
// again. What New registers for the end of the test destroys the cluster and
// fails the test when a container, a network, a volume or a file is left.
package cluster
