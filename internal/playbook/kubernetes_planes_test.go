package playbook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
)

// authorities are what control planes share.
var authorities = []string{"ca.crt", "ca.key", "sa.key", "sa.pub", "front-proxy-ca.crt", "front-proxy-ca.key", "etcd/ca.crt", "etcd/ca.key"}

// Three control planes: two join the first, and one leaves again.
func TestControlPlanesOnLabHosts(t *testing.T) {
	t.Parallel()
	k := newKubernetes(t, kubeconf.Cluster{Endpoint: "api:6443", ControlPlanes: []kubeconf.Node{{Name: "ctl1"}, {Name: "ctl2"}, {Name: "ctl3"}}})
	all := map[string][]string{"hosts": {"ctl1", "ctl2", "ctl3"}}
	for _, host := range all["hosts"] {
		// What stands before the control planes; the lab's own file is shared by all of its hosts.
		k.on(host, "cp /etc/hosts /root/hosts && echo '"+k.hosts["ctl1"].Address+" api' >>/root/hosts && mount --bind /root/hosts /etc/hosts")
	}
	if _, err := k.run(playbook.KubernetesNode, all, k.nodeVars(), nil); err != nil {
		t.Fatal(err)
	}
	begins := k.controlPlaneVars()
	begins["kubernetes_control_plane_begins"] = true
	if _, err := k.run(playbook.KubernetesControlPlane, only("ctl1"), begins, nil); err != nil {
		t.Fatal(err)
	}
	certificates := map[string]string{}
	for _, name := range authorities {
		certificates[name] = k.on("ctl1", "cat /etc/kubernetes/pki/"+name) + "\n"
	}
	for _, host := range []string{"ctl2", "ctl3"} {
		secrets := vars{"kubernetes_control_plane_discovery": k.discovery(), "kubernetes_control_plane_certificates": certificates}
		begin := time.Now()
		k.twice(playbook.KubernetesControlPlane, only(host), k.controlPlaneVars(), secrets)
		t.Logf("%s is a control plane after %.1f s, a second run included", host, time.Since(begin).Seconds())
		k.want(host, "stat -c %a /etc/kubernetes/pki/ca.key; ls /etc/kubernetes/manifests | wc -l", "600\n4")
	}
	k.notInLogs(certificates["ca.key"][100:160], "ctl1", "ctl2", "ctl3")
	k.await("ctl1", kubectl("get nodes --no-headers | awk '{print $2}' | sort | uniq -c"), "3 Ready", 120*time.Second)
	// A kubelet serves nothing before somebody has approved its certificate, which no playbook does.
	k.await("ctl1", kubectl("get certificatesigningrequests -o name")+" | xargs -r "+kubectl("certificate approve")+" >/dev/null; "+kubectl("get --raw /api/v1/nodes/ctl1/proxy/healthz"), "ok", 60*time.Second)
	etcd := kubectl("-n kube-system exec etcd-ctl1 -- etcdctl --endpoints https://127.0.0.1:2379 --cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/etcd/peer.crt --key /etc/kubernetes/pki/etcd/peer.key member ")
	members := etcd + "list | awk -F', ' '{print $3}' | sort | xargs"
	k.await("ctl1", members, "ctl1 ctl2 ctl3", 60*time.Second)

	// Once etcd has forgotten it, one can leave, and the others still agree.
	k.on("ctl1", etcd+"remove $("+etcd+"list | awk -F', ' '$3 == \"ctl3\" {print $1}')")
	if _, err := k.run(playbook.KubernetesRemove, only("ctl3"), nil, nil); err != nil {
		t.Fatal(err)
	}
	k.await("ctl1", members, "ctl1 ctl2", 30*time.Second)
	if got := k.on("ctl1", kubectl("create configmap after --from-literal a=b")); !strings.Contains(got, "created") {
		t.Errorf("the cluster without the one that left says %q", got)
	}
}
