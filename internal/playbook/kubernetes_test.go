package playbook_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// kubernetes is a lab for one test.
type kubernetes struct {
	*world
	cluster  kubeconf.Cluster
	set      kubeconf.FileSet
	binaries string
	// before is what each host was before the first playbook.
	before map[string]string
	hosts  map[string]lab.HostInfo
}

// toolkitFile is what the container toolkit of GPUs places, by itself and at any time.
const toolkitFile = "/etc/containerd/conf.d/99-nvidia.toml"

// newKubernetes makes a lab with those hosts, for the cluster.
func newKubernetes(t *testing.T, c kubeconf.Cluster) *kubernetes {
	t.Helper()
	var hosts []lab.HostSpec
	for _, n := range append(slices.Clone(c.ControlPlanes), c.Workers...) {
		hosts = append(hosts, lab.HostSpec{Name: n.Name, Volumes: []string{"/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet"}})
	}
	made := labtest.New(t, "pbk8s", lab.ImageSpec{Kubernetes: true}, hosts...)
	name, _, _ := strings.Cut(strings.TrimPrefix(made.Hosts[0].Container, "gpucluster-"), ".")
	served, err := made.Engine.EnsureArtifacts(t.Context(), lab.ArtifactsSpec{Lab: name})
	if err != nil {
		t.Fatal(err)
	}
	// What must show nowhere is longer than these tests have; see world.run.
	k := &kubernetes{world: &world{t: t, munge: secret(t) + strings.Repeat("-", 200), dbPass: secret(t)},
		binaries: served.URL + "/binaries/" + artifacts.KubernetesVersion, before: map[string]string{}, hosts: map[string]lab.HostInfo{}}
	var targets []remote.Target
	for _, h := range made.Hosts {
		targets = append(targets, labtest.Target(h))
		k.hosts[h.Name] = h
	}
	if k.session, err = remote.Open(t.Context(), remote.Config{Targets: targets, PrivateKey: made.Key.Private}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = k.session.Close() })
	c.Name, c.Version, c.Registry, c.Overrides = "lab", artifacts.KubernetesVersion, served.URL, kubeconf.LabOverrides()
	k.cluster = c
	if k.set, err = kubeconf.Render(k.cluster); err != nil {
		t.Fatal(err)
	}
	return k
}

// kubectl runs a command on the control plane.
func kubectl(words string) string {
	return "kubectl --kubeconfig /etc/kubernetes/admin.conf " + words
}

func (k *kubernetes) nodeVars() vars {
	v := vars{"kubernetes_node_endpoint": k.cluster.Endpoint, "kubernetes_node_binaries_url": k.binaries,
		"kubernetes_node_files": k.set.Node, "kubernetes_node_cgroup_v1": k.cluster.Overrides.CgroupV1,
		"kubernetes_node_ports": []int{6443, 2379, 2380, 10250, 10257, 10259}}
	hosts := map[string][]kubeconf.File{}
	for h := range k.hosts {
		hosts[h] = k.set.Own(h)
	}
	v["kubernetes_node_host_files"] = hosts
	return v
}

func (k *kubernetes) controlPlaneVars() vars {
	var objects []string
	for _, f := range k.set.Objects {
		objects = append(objects, f.Path)
	}
	return vars{"kubernetes_control_plane_cluster": "lab", "kubernetes_control_plane_version": k.cluster.Version, "kubernetes_control_plane_binaries_url": k.binaries, "kubernetes_control_plane_first": "ctl1",
		"kubernetes_control_plane_objects": objects, "kubernetes_control_plane_ignore_preflight": k.cluster.Overrides.IgnoredPreflight()}
}

func (k *kubernetes) workerVars() vars {
	return vars{"kubernetes_worker_cluster": "lab", "kubernetes_worker_version": k.cluster.Version, "kubernetes_worker_ignore_preflight": k.cluster.Overrides.IgnoredPreflight()}
}

// discovery has the control plane make a token that lives for minutes.
func (k *kubernetes) discovery() string {
	k.t.Helper()
	token := k.on("ctl1", "kubeadm token create --kubeconfig /etc/kubernetes/admin.conf --ttl 10m")
	return kubeconf.Discovery(k.cluster.Endpoint, k.on("ctl1", "cat /etc/kubernetes/pki/ca.crt")+"\n", token)
}

// unchanged runs a playbook that has nothing to do.
func (k *kubernetes) unchanged(book playbook.Playbook, host string, v vars) {
	k.t.Helper()
	result, err := k.run(book, only(host), v, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	for host, h := range result.Hosts {
		if len(h.Changed) > 0 {
			k.t.Errorf("%s changed %s: %s", book, host, strings.Join(h.Changed, "; "))
		}
	}
}

// snapshot lists what a membership changes on a host: files, mounts, units, links, routes
// and what the kernel filters.
func (k *kubernetes) snapshot(host string) string {
	k.t.Helper()
	return k.on(host, `{ find /etc /opt /usr/local /var/lib/containerd /var/lib/kubelet /var/lib/etcd /var/lib/cni /var/lib/gpucluster \
		/var/log/pods /var/log/containers /run/flannel 2>/dev/null | sort
	findmnt -rn -o TARGET | sort
	systemctl list-units --type=service --state=running,failed --plain --no-legend | cut -d' ' -f1 | grep -v '^user' | sort
	ls /sys/class/net /run/netns; ip -4 route; nft list tables; iptables-save | sed 's/:[0-9]*$//' | grep -E '^-A|^:[A-Z]+-' | grep -v 'sport'
	ps -eo comm | grep -E 'kube|containerd|etcd|pause|flannel' | sort; true; } 2>/dev/null`)
}

// spared are paths that a member leaves: what Debian's package brought and ours replaced, what
// the toolkit of the GPUs owns, and empty folders.
var spared = []string{"/etc/containerd", "/etc/containerd/config.toml", "/etc/containerd/conf.d", toolkitFile, "/etc/cni", "/etc/cni/net.d",
	"/usr/local/lib/systemd", "/usr/local/lib/systemd/system", "/var/lib/gpucluster", "/etc/systemd/system/multi-user.target.wants", "/opt/cni", "/opt/cni/bin"}

func TestKubernetesOnLabHosts(t *testing.T) {
	t.Parallel()
	k := newKubernetes(t, kubeconf.Cluster{Endpoint: "ctl1:6443",
		ControlPlanes: []kubeconf.Node{{Name: "ctl1"}},
		Workers: []kubeconf.Node{{Name: "gpu1", Labels: map[string]string{"rack.example/name": "r1"},
			Taints: []kubeconf.Taint{{Key: "example/other", Value: "yes", Effect: "PreferNoSchedule"}}, Reserved: kubeconf.Reserved{MemoryMiB: 512}}},
	})
	for _, host := range []string{"ctl1", "gpu1"} {
		k.before[host] = k.snapshot(host)
	}
	k.prepare()
	k.foreign()
	k.begin()
	k.join()
	k.podRuns()
	k.daemonsTaken()
	k.proxiesAnew()
	t.Run("TestCaseK41", func(t *testing.T) {
		defer func(outer *testing.T) { k.t = outer }(k.t)
		k.t = t
		k.reboot()
	})
	k.leave()
}

// prepare also wants the hosts that cannot be members to be told all that is in the way.
func (k *kubernetes) prepare() {
	k.t.Helper()
	bad := k.nodeVars()
	bad["kubernetes_node_cgroup_v1"], bad["kubernetes_node_endpoint"] = false, "nowhere.invalid:6443"
	k.on("gpu1", "systemd-run -q --unit=taken python3 -m http.server 10250 && sleep 1")
	k.refused(playbook.KubernetesNode, only("gpu1"), bad, nil,
		"control groups are those of v1", "the name nowhere.invalid of the API does not resolve here", "port 10250 is taken by another program")
	k.on("gpu1", "systemctl stop taken")

	k.twice(playbook.KubernetesNode, both(), k.nodeVars(), nil)
	for _, host := range []string{"ctl1", "gpu1"} {
		k.want(host, "systemctl is-active containerd; systemctl is-enabled containerd kubelet; kubelet --version", "active\nenabled\nenabled\nKubernetes "+artifacts.KubernetesVersion)
	}
}

// foreign makes the worker a member of a cluster that is not ours, as far as can be seen: it
// neither joins ours, nor is anything taken back.
func (k *kubernetes) foreign() {
	k.t.Helper()
	const theirs = "/etc/kubernetes/kubelet.conf"
	k.on("gpu1", "mkdir -p /etc/kubernetes && echo theirs >"+theirs)
	k.refused(playbook.KubernetesWorker, only("gpu1"), k.workerVars(), vars{"kubernetes_worker_discovery": "x"},
		"the host is a member of a cluster that is not ours ("+theirs+")")
	k.unchanged(playbook.KubernetesRemove, "gpu1", nil)
	k.want("gpu1", "cat "+theirs+"; systemctl is-active containerd; systemctl is-enabled kubelet", "theirs\nactive\nenabled")
	k.on("gpu1", "rm -r /etc/kubernetes")
}

// begin is cut off once: the next run begins anew.
func (k *kubernetes) begin() {
	k.t.Helper()
	k.on("ctl1", "systemd-run -q --unit=cutter sh -c 'until [ -e /etc/kubernetes/manifests/kube-scheduler.yaml ]; do sleep 0.02; done; sleep 1; pkill -9 kubeadm'")
	begins := k.controlPlaneVars()
	begins["kubernetes_control_plane_begins"] = true
	if _, err := k.run(playbook.KubernetesControlPlane, only("ctl1"), begins, nil); err == nil {
		k.t.Fatal("kubeadm was killed, and that went unnoticed")
	}
	begin := time.Now()
	k.twice(playbook.KubernetesControlPlane, only("ctl1"), begins, nil)
	k.await("ctl1", kubectl("get node ctl1 --no-headers | awk '{print $2}'"), "Ready", 60*time.Second)
	k.t.Logf("the control plane is ready after %.1f s", time.Since(begin).Seconds())
	k.want("ctl1", "stat -c '%a' /etc/kubernetes/admin.conf /var/lib/gpucluster/kubernetes.json", "600\n600")
}

// join has the worker come in, closed, with the labels and taints that it was given.
func (k *kubernetes) join() {
	k.t.Helper()
	k.refused(playbook.KubernetesWorker, only("gpu1"), k.workerVars(), nil, "was given nothing to join with")
	discovery := k.discovery()
	secrets := vars{"kubernetes_worker_discovery": discovery}
	// Cut off half way, the host begins anew.
	k.on("gpu1", "systemd-run -q --unit=cutter sh -c 'until [ -e /etc/kubernetes/bootstrap-kubelet.conf ]; do :; done; pkill -9 kubeadm'")
	if _, err := k.run(playbook.KubernetesWorker, only("gpu1"), k.workerVars(), secrets); err == nil {
		k.t.Error("kubeadm was killed, and that went unnoticed")
	}
	begin := time.Now()
	if _, err := k.run(playbook.KubernetesWorker, only("gpu1"), k.workerVars(), secrets); err != nil {
		k.t.Fatal(err)
	}
	k.await("ctl1", kubectl("get node gpu1 --no-headers | awk '{print $2}'"), "Ready", 60*time.Second)
	k.t.Logf("the worker is ready after %.1f s", time.Since(begin).Seconds())
	k.unchanged(playbook.KubernetesWorker, "gpu1", k.workerVars())
	k.want("gpu1", "ls /run/gpucluster-kubernetes-discovery.conf 2>/dev/null || true", "")
	// A moment after it is ready, the taint that said otherwise goes too.
	k.await("ctl1", kubectl(`get node gpu1 -o jsonpath='{.metadata.labels.rack\.example/name} {range .spec.taints[*]}{.key}={.value}:{.effect} {end}'`),
		"r1 gpucluster/validating=:NoSchedule example/other=yes:PreferNoSchedule", 20*time.Second)
	k.want("gpu1", "grep -A1 systemReserved /var/lib/kubelet/config.yaml | tail -1", "memory: 512Mi")
	k.notInLogs(strings.Split(discovery, `token: "`)[1][:23], "ctl1", "gpu1")
}

// notInLogs looks for a secret where it must not be.
func (k *kubernetes) notInLogs(secret string, hosts ...string) {
	k.t.Helper()
	for _, host := range hosts {
		script := `n=$(cat); journalctl -q --no-pager -o cat | grep -cF "$n"
			grep -rlF "$n" /etc /tmp /run /var/tmp /root /var/lib/kubelet /var/lib/gpucluster 2>/dev/null | grep -v '^/etc/kubernetes/pki/'; true`
		out, err := k.session.Run(k.t.Context(), host, script, []byte(secret))
		if err != nil {
			k.t.Fatal(err)
		}
		if strings.TrimSpace(out) != "0" {
			k.t.Errorf("%s: the secret shows: %s", host, out)
		}
	}
}

const pod = `apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  nodeSelector: {kubernetes.io/hostname: gpu1}
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: "registry.k8s.io/pause:3.10.2"}]
`

// podRuns opens the worker: before, nothing is scheduled there. The pod is reached from the
// other host, and services from both.
func (k *kubernetes) podRuns() {
	k.t.Helper()
	if _, err := k.session.Run(k.t.Context(), "ctl1", kubectl("apply -f -"), []byte(pod)); err != nil {
		k.t.Fatal(err)
	}
	k.await("ctl1", kubectl(`get pod one -o jsonpath='{.status.conditions[?(@.type=="PodScheduled")].reason}'`), "Unschedulable", 20*time.Second)
	k.on("ctl1", kubectl("taint node gpu1 gpucluster/validating-"))
	k.reached()
}

// reached wants the pod to run and the network to work.
func (k *kubernetes) reached() {
	k.t.Helper()
	k.await("ctl1", kubectl(`get pod one -o jsonpath='{.status.phase} {.spec.nodeName}'`), "Running gpu1", 60*time.Second)
	k.await("ctl1", "ping -c1 -W2 $("+kubectl(`get pod one -o jsonpath='{.status.podIP}'`)+") >/dev/null && echo reached", "reached", 60*time.Second)
	k.await("ctl1", kubectl(`-n kube-system get deployment coredns -o jsonpath='{.status.readyReplicas}'`), "2", 120*time.Second)
	ask := `python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3)
s.sendto(b"\0\1\1\0\0\1\0\0\0\0\0\0\12kubernetes\7default\3svc\7cluster\5local\0\0\1\0\1", ("10.96.0.10", 53))
print(".".join(map(str, s.recv(512)[-4:])))'`
	for _, host := range []string{"ctl1", "gpu1"} {
		k.await(host, ask, "10.96.0.1", 30*time.Second)
		k.await(host, "curl -sk https://10.96.0.1/readyz", "ok", 30*time.Second)
	}
}

// daemonsTaken removes files of the control plane's daemons: the next run puts them back.
func (k *kubernetes) daemonsTaken() {
	k.t.Helper()
	k.on("ctl1", "rm /etc/kubernetes/manifests/etcd.yaml /etc/kubernetes/manifests/kube-scheduler.yaml")
	k.await("ctl1", kubectl("get --raw /readyz")+" >/dev/null 2>&1 || echo down", "down", 60*time.Second)
	result, err := k.run(playbook.KubernetesControlPlane, only("ctl1"), k.controlPlaneVars(), nil)
	if err != nil {
		k.t.Fatal(err)
	}
	said := strings.Join(result.Hosts["ctl1"].Changed, "\n")
	for _, name := range []string{"etcd.yaml", "kube-scheduler.yaml"} {
		if want := "/etc/kubernetes/manifests/" + name + " (put back)"; !strings.Contains(said, want) {
			k.t.Errorf("the run says %q, want %q in it", said, want)
		}
	}
	k.await("ctl1", kubectl("get --raw /readyz"), "ok", 60*time.Second)
	k.unchanged(playbook.KubernetesControlPlane, "ctl1", k.controlPlaneVars())
}

// proxiesAnew starts another kube-proxy on each host, as an upgrade does: it finds the rules of
// the one before, and services stay reachable.
func (k *kubernetes) proxiesAnew() {
	k.t.Helper()
	k.on("ctl1", kubectl("-n kube-system delete pod -l k8s-app=kube-proxy"))
	k.on("ctl1", kubectl("-n kube-system rollout status daemonset kube-proxy --timeout 60s"))
	for _, host := range []string{"ctl1", "gpu1"} {
		k.await(host, "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:10256/healthz", "200", 30*time.Second)
		k.want(host, "sleep 2; curl -sk -m 5 https://10.96.0.1/readyz", "ok")
	}
}

// toolkit does what the container toolkit of GPUs does: it adds a runtime, here runc by
// another name, to all that is said of the plugin.
const toolkit = `mkdir -p /etc/containerd/conf.d && { echo 'version = 2'
	sed -n '/^\[plugins."io.containerd.grpc.v1.cri"\]/,$p' /etc/containerd/config.toml
	sed -n '/containerd.runtimes.runc\]/,$p' /etc/containerd/config.toml | sed 's/runtimes[.]runc/runtimes.nvidia/'
	printf '[debug]\n  level = "warn"\n'
} >` + toolkitFile

const nvidiaPod = `apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: nvidia}
handler: nvidia
---
apiVersion: v1
kind: Pod
metadata: {name: nvidia}
spec:
  runtimeClassName: nvidia
  nodeSelector: {kubernetes.io/hostname: gpu1}
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: "registry.k8s.io/pause:3.10.2"}]
`

// reboot resets both hosts: everything comes back by itself, and nothing is left to do.
// What the container toolkit has placed meanwhile is in force, so that pods run by its
// runtime, and stays what it is.
func (k *kubernetes) reboot() {
	k.t.Helper()
	k.on("gpu1", toolkit)
	for _, host := range []string{"gpu1", "ctl1"} {
		if out, err := exec.Command("docker", "restart", k.hosts[host].Container).CombinedOutput(); err != nil {
			k.t.Fatalf("%v: %s", err, out)
		}
	}
	k.await("ctl1", kubectl("get --raw /readyz"), "ok", 120*time.Second)
	k.await("ctl1", kubectl("get nodes --no-headers | awk '{print $2}' | sort -u"), "Ready", 120*time.Second)
	k.reached()
	if _, err := k.session.Run(k.t.Context(), "ctl1", kubectl("apply -f -"), []byte(nvidiaPod)); err != nil {
		k.t.Fatal(err)
	}
	k.await("ctl1", kubectl(`get pod nvidia -o jsonpath='{.status.phase} {.spec.nodeName}'`), "Running gpu1", 60*time.Second)
	k.want("gpu1", "containerd config dump | grep level", `level = "warn"`)
	k.unchanged(playbook.KubernetesNode, "gpu1", k.nodeVars())
	k.unchanged(playbook.KubernetesWorker, "gpu1", k.workerVars())
	k.unchanged(playbook.KubernetesNode, "ctl1", k.nodeVars())
	k.unchanged(playbook.KubernetesControlPlane, "ctl1", k.controlPlaneVars())
	k.want("gpu1", "tail -1 "+toolkitFile, `level = "warn"`)
}

// leave takes back everything, the worker while the cluster is there.
func (k *kubernetes) leave() {
	k.t.Helper()
	for _, host := range []string{"gpu1", "ctl1"} {
		k.twice(playbook.KubernetesRemove, only(host), vars{"kubernetes_reset_mask": false}, nil)
		if left := difference(k.before[host], k.snapshot(host)); left != "" {
			k.t.Errorf("%s is not what it was:\n%s", host, left)
		}
	}
	k.want("gpu1", "ls "+toolkitFile, toolkitFile)
	k.twice(playbook.KubernetesRemove, only("gpu1"), nil, nil)
	k.want("gpu1", "systemctl is-enabled kubelet || true", "masked")
}

// difference lists the lines of two texts that only one of them has.
func difference(before, after string) string {
	var out []string
	for _, d := range []struct{ sign, text, other string }{{"-", before, after}, {"+", after, before}} {
		for line := range strings.Lines(d.text) {
			if line = strings.TrimSpace(line); !strings.Contains(d.other, line) && !slices.Contains(spared, line) {
				out = append(out, d.sign+line)
			}
		}
	}
	return strings.Join(out, "\n")
}
