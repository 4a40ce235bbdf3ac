// Package etcdctl asks and commands the etcd of a Kubernetes cluster through one
// of its control-plane hosts, also where no API server answers: the program is
// the one in the container of etcd itself.
//
// The usual path is a [Client] on the runner of a control plane that works:
// [Client.Snapshot] before anything that can harm the data, [Client.Members],
// and [Client.Remove] of one that will not come back.
package etcdctl
