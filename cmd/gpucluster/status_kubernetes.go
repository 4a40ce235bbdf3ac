package main

import (
	"context"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// onPlane is kubectl on a control plane, where the administrator's credentials
// are.
const onPlane = "kubectl --kubeconfig " + kubectl.AdminConf

// ownNamespaces are those whose pods are the cluster's own.
var ownNamespaces = []string{kubectl.Namespace, "kube-system", "kube-flannel"}

var kubernetesStatus = view{
	listing: onPlane + ` --request-timeout 20s get nodes -o custom-columns='NODE:.metadata.name,READY:.status.conditions[?(@.type=="Ready")].status,` +
		`GPU:.metadata.labels.gpucluster/gpu,GPUS:.status.allocatable.nvidia\.com/gpu,CORDONED:.spec.unschedulable,TAINTS:.spec.taints[*].key,VERSION:.status.nodeInfo.kubeletVersion' && echo && ` +
		onPlane + " --request-timeout 20s get pods -A -o wide --field-selector metadata.namespace!=" + strings.Join(ownNamespaces, ",metadata.namespace!="),
	proof: "smoke pods",
	word:  "use it:   ",
	next: func(context.Context, *remote.Session, []string) (string, error) {
		return onPlane + " get nodes", nil
	},
}
