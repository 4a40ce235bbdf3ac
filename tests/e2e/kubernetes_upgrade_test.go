package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// training is a Job with a pod on all GPUs of each of two hosts, of which its
// budget wants one to run at any time. Its pods run until a file appears on their
// host; their program is the host's own.
const training = `{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"train"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"train"}}}},
{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train"},"spec":{"parallelism":2,"completions":2,"template":{"metadata":{"labels":{"app":"train"}},"spec":{
"restartPolicy":"Never","terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10.2",
"command":["/usr/bin/sh","-c","until [ -e /host/finish ]; do sleep 0.5; done"],"resources":{"limits":{"nvidia.com/gpu":"8"}},
"volumeMounts":[{"name":"usr","mountPath":"/usr"},{"name":"lib","mountPath":"/lib"},{"name":"lib64","mountPath":"/lib64"},{"name":"host","mountPath":"/host"}]}],
"volumes":[{"name":"usr","hostPath":{"path":"/usr"}},{"name":"lib","hostPath":{"path":"/usr/lib"}},{"name":"lib64","hostPath":{"path":"/usr/lib64"}},
{"name":"host","hostPath":{"path":"/var/lib/kubernetes-test","type":"DirectoryOrCreate"}}]}}}}]}`

// bare is a pod that nothing would start again.
const bare = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},"spec":{"nodeName":"gpu1","terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10.2"}]}}`

// releases lists each node with the release of its kubelet, and whether it takes
// pods.
func (k *kubernetes) releases(t *testing.T) string {
	t.Helper()
	return k.ctl(t, `get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.nodeInfo.kubeletVersion} {.spec.unschedulable}{.spec.taints[?(@.key=="gpucluster/validating")].key}{.metadata.annotations.gpucluster/cordoned}{"\n"}{end}'`)
}

func wantReleases(t *testing.T, got string, hosts ...string) {
	t.Helper()
	var want strings.Builder
	for i := 0; i < len(hosts); i += 2 {
		fmt.Fprintf(&want, "%s %s \n", hosts[i], hosts[i+1])
	}
	if strings.TrimSpace(got) != strings.TrimSpace(want.String()) {
		t.Errorf("the nodes are\n%s\nwant\n%s", got, want.String())
	}
}

// wantHosts checks what a run changed about hosts. Those who ask the API by the
// kubeconfig may follow: renewed certificates are another one.
func wantHosts(t *testing.T, run cluster.Run, want ...string) {
	t.Helper()
	got := slices.DeleteFunc(run.Changes(), func(change string) bool {
		_, name, _ := strings.Cut(change, " ")
		return !strings.HasPrefix(name, "ctl") && !strings.HasPrefix(name, "gpu")
	})
	if !slices.Equal(got, want) {
		t.Errorf("%s touched\n  %s\nwant of hosts\n  %s", run.Verb, strings.Join(run.Changes(), "\n  "), strings.Join(want, "\n  "))
	}
}

// upgradeStops checks that a pod that nothing would start again is not evicted,
// that its worker stays open, and that no other worker is touched meanwhile.
func (k *kubernetes) upgradeStops(t *testing.T, c *cluster.Cluster) {
	k.apply(t, training)
	k.apply(t, bare)
	k.ctl(t, "wait --for=condition=Ready pod -l app=train --timeout 60s")
	k.ctl(t, "wait --for=condition=Ready pod bare --timeout 60s")
	c.Edit(t, `version: "1.36"`, `version: "1.37"`)
	run := c.TryUp(t)
	if run.Err == nil {
		t.Error("up succeeds although nothing would start a pod on gpu1 again")
	}
	wantSays(t, run, "Kubernetes goes from "+artifacts.KubernetesVersion+" to "+artifacts.NextKubernetesVersion+", in place",
		"gpu1, gpu3, then, at most 1 at a time", "etcd's data is saved", "declare no controller", "default/bare")
	was, is := artifacts.KubernetesVersion, artifacts.NextKubernetesVersion
	wantReleases(t, k.releases(t), "ctl1", is, "gpu1", was, "gpu3", was)
	k.ctl(t, "delete pod bare")
}

// upgrade goes on where the run before stopped. The job's pods start elsewhere or
// again, one at a time, and it comes to its end.
func (k *kubernetes) upgrade(t *testing.T, c *cluster.Cluster) {
	run := c.Up(t)
	wantHosts(t, run, "update gpu1", "update gpu3")
	is := artifacts.NextKubernetesVersion
	wantReleases(t, k.releases(t), "ctl1", is, "gpu1", is, "gpu3", is)
	images := k.ctl(t, "get pods -n kube-system -o jsonpath='{.items[*].spec.containers[*].image}'")
	for _, image := range []string{"kube-apiserver:" + is, "kube-proxy:" + is, "etcd:" + strings.TrimPrefix(artifacts.NextEtcdVersion, "v"), "coredns:" + artifacts.NextCoreDNSVersion} {
		if !strings.Contains(images, image) {
			t.Errorf("no pod of %s: %s", image, images)
		}
	}
	for _, host := range []string{"gpu1", "gpu3"} {
		k.On(t, host, "touch /var/lib/kubernetes-test/finish")
	}
	k.ctl(t, "wait --for=condition=Complete job/train --timeout 90s")
	k.ctl(t, "delete job,pdb train")
	wantChanges(t, c.Up(t))
}

// certificates makes those of the control plane end in two minutes, and has them
// renewed.
func (k *kubernetes) certificates(t *testing.T, c *cluster.Cluster) {
	const admin, config = "kubectl --kubeconfig /etc/kubernetes/admin.conf -n kube-system ", "get configmap kubeadm-config -o yaml"
	k.On(t, cluster.Controller, admin+config+" >/root/kubeadm-config.yaml"+
		" && sed 's/^    kind: ClusterConfiguration$/    certificateValidityPeriod: 2m20s\\n&/' /root/kubeadm-config.yaml | "+admin+"replace -f -"+
		" && kubeadm certs renew all && sed -i '/^  resourceVersion:/d' /root/kubeadm-config.yaml && "+admin+"replace -f /root/kubeadm-config.yaml")
	run := c.Up(t)
	wantSays(t, run, "needs repair", "certificates end on", "pki/apiserver.crt", "admin.conf")
	wantHosts(t, run, "update ctl1-control-plane")
	if !slices.Contains(run.Changes(), "update kubeconfig") {
		t.Error("the kubeconfig is not read anew")
	}
	wantChanges(t, c.Up(t))
}
