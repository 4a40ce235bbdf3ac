package main

import (
	"context"
	"fmt"
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
	more:  certificateEnds,
	word:  "use it:   ",
	next: func(context.Context, *remote.Session, []string) (string, error) {
		return onPlane + " get nodes", nil
	},
}

// certificateEnds tells when the certificates of each control plane end. One that
// cannot be asked is told as such: the rest of the status stands.
func certificateEnds(ctx context.Context, session *remote.Session, controllers []string) string {
	text := ""
	for _, host := range controllers {
		certificates, err := (&kubectl.Client{Runner: session.Runner(host)}).Certificates(ctx)
		if err != nil {
			text += fmt.Sprintf("\n%s: %v\n", host, err)
			continue
		}
		text += fmt.Sprintf("\n%s: certificates end on %s and are renewed by an up from a third of their life before; authorities end on %s\n",
			host, certificates.Ends(false).UTC().Format("2006-01-02"), certificates.Ends(true).UTC().Format("2006-01-02"))
	}
	return text
}
