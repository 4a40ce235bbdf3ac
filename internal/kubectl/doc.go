// Package kubectl asks and commands a Kubernetes cluster through the kubectl of
// one of its control-plane hosts.
//
// The usual path is a [Client] on the host's runner: [Client.WaitUp], then what
// is to be done with nodes and pods. The credentials stay on the host: kubectl
// reads the administrator's kubeconfig there, and nothing of it comes back.
//
// A host is closed by the taint [TaintValidating], which a pod of ours alone
// tolerates: it is checked by real work before anybody else's lands there.
package kubectl
