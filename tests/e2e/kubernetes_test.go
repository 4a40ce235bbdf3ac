package e2e

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// pods is an environment of a control plane and two GPU hosts.
//
//go:embed testdata/kubernetes.yaml
var pods string

// TestKubernetes follows one Kubernetes cluster from nothing to nothing.
func TestKubernetes(t *testing.T) {
	long(t)
	t.Parallel()
	k := &kubernetes{Cluster: cluster.New(t, "pods", pods)}
	runStages(t, k.Cluster, []stage{
		{"up from nothing", k.up, true, false},
		{"a team's job runs when its queue admits it", k.admitted, false, false},
		{"up again changes nothing", k.again, false, false},
		{"up from another clone changes nothing", k.elsewhere, false, false},
		{"a pod has its own GPUs", k.pod, false, false},
		{"a team borrows and gives back", k.quota, false, false},
		{"a job that cannot start whole holds nothing", k.gang, false, false},
		{"a set of jobs, and one of groups, start whole", k.sets, false, false},
		{"a service grows with its work, and is updated without a gap", k.serves, false, false},
		{"a team stays within its own", k.tenancy, false, false},
		{"a queue that is gone is put back", k.queueGone, false, false},
		{"a team at work does not go", k.teamGoes, false, false},
		{"a worker comes in while pods run", k.grow, true, false},
		{"a kubelet that was stopped is started, and a node that was deleted comes back", k.heal, false, false},
		{"a budget keeps a worker, and nothing is forced", k.blocked, true, false},
		{"a worker leaves when its budget allows it", k.shrink, true, false},
		{"what cannot change is refused", k.refusedChange, false, false},
		{"an upgrade stops at a pod that nothing would start again", k.upgradeStops, true, false},
		{"it goes on, and a job with it", k.upgrade, true, false},
		{"certificates are renewed before they end", k.certificates, false, false},
		{"no secret lies open", k.secrets, false, false},
		{"destroy refuses while pods run", k.refuse, false, false},
		{"destroy leaves nothing", k.down, true, false},
	})
}

type kubernetes struct {
	*cluster.Cluster
	// watcher saw every command line while the cluster was built.
	watcher *watcher
	// began is when the first update did.
	began time.Time
}

// ctl runs kubectl on the control plane.
func (k *kubernetes) ctl(t *testing.T, words string) string {
	t.Helper()
	return k.On(t, cluster.Controller, "kubectl --kubeconfig /etc/kubernetes/admin.conf "+words)
}

// apply gives the cluster objects.
func (k *kubernetes) apply(t *testing.T, manifest string) {
	t.Helper()
	if _, err := cluster.Exec(t, k.Container(cluster.Controller), "kubectl --kubeconfig /etc/kubernetes/admin.conf apply -f -", manifest); err != nil {
		t.Fatal(err)
	}
}

// checkImage lists the GPUs that its container has.
const checkImage = artifacts.GPUCheckImage

func (k *kubernetes) up(t *testing.T, c *cluster.Cluster) {
	k.watcher, k.began = watchCommandLines(), time.Now()
	run := c.Up(t)
	k.watcher.stop()
	wantSays(t, run, "smoke pods: ready")
	nodes := k.ctl(t, `get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.allocatable.nvidia\.com/gpu} {.spec.taints[*].key} {.metadata.labels.gpucluster/gpu} {.metadata.labels.gpucluster/switch-0}{"\n"}{end}'`)
	want := "ctl1  node-role.kubernetes.io/control-plane  \ngpu1 8  h100 leaf1\ngpu2 8  h100 leaf1"
	if nodes != want {
		t.Errorf("the nodes are\n%s\nwant\n%s", nodes, want)
	}
	if left := k.ctl(t, "get pods -n gpucluster-system --no-headers -o name | grep -v simulated-gpus || true"); left != "" {
		t.Errorf("pods of ours are left: %s", left)
	}
	if tokens := k.On(t, cluster.Controller, "kubeadm token list | grep 'made by gpucluster' || true"); tokens != "" {
		t.Errorf("tokens that let hosts in are left: %s", tokens)
	}
}

func (k *kubernetes) again(t *testing.T, c *cluster.Cluster) { wantChanges(t, c.Up(t)) }

func (k *kubernetes) elsewhere(t *testing.T, c *cluster.Cluster) {
	here := c.Checkout
	c.Checkout = here.CloneWithTools(t)
	defer func() { c.Checkout = here }()
	wantChanges(t, c.Up(t))
	if status := c.Checkout.Status(t); status != "" {
		t.Errorf("git status says %s", status)
	}
}

// gpuPod is a pod that asks for GPUs on a host.
func gpuPod(name, host string, gpus int, command string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q},"spec":{"restartPolicy":"Never","nodeSelector":{"kubernetes.io/hostname":%q},
"containers":[{"name":"c","image":%q,"command":%s,"resources":{"limits":{"nvidia.com/gpu":"%d"}}}]}}`, name, host, checkImage, command, gpus)
}

func (k *kubernetes) pod(t *testing.T, c *cluster.Cluster) {
	k.apply(t, gpuPod("two", "gpu1", 2, `["nvidia-smi","-L"]`))
	k.phase(t, "two", "Succeeded")
	if out := k.ctl(t, "logs two"); strings.Count(out, "GPU ") != 2 {
		t.Errorf("a pod that asked for 2 GPUs sees\n%s", out)
	}
	k.ctl(t, "delete pod two")
}

func (k *kubernetes) phase(t *testing.T, pod, want string) {
	t.Helper()
	cluster.Until(t, pod+" to be "+want, 2*time.Minute, func() error {
		if phase := k.ctl(t, "get pod "+pod+" -o jsonpath='{.status.phase}'"); phase != want {
			return errors.New(phase)
		}
		return nil
	})
}

// waiting is a Deployment whose pods do nothing, on a host.
func waiting(name, host string) string {
	return fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":%[1]q},"spec":{"replicas":1,"selector":{"matchLabels":{"app":%[1]q}},
"template":{"metadata":{"labels":{"app":%[1]q}},"spec":{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":100,
"preference":{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":[%[2]q]}]}}]}},"containers":[{"name":"c","image":"registry.k8s.io/pause:3.10.2"}]}}}}`, name, host)
}

func (k *kubernetes) grow(t *testing.T, c *cluster.Cluster) {
	k.apply(t, waiting("web", "gpu2"))
	k.ctl(t, "rollout status deployment web --timeout 60s")
	before := c.Starts(t, "kubelet", "ctl1", "gpu1", "gpu2")
	c.Edit(t, "names: gpu[1-2] # all", "names: gpu[1-3] # all", "hosts: gpu[1-2] # under leaf1", "hosts: gpu[1-3] # under leaf1")
	wantChanges(t, c.Up(t), "create gpu3-host", "create gpu3-baseline", "create gpu3", "update gate")
	for i, after := range c.Starts(t, "kubelet", "ctl1", "gpu1", "gpu2") {
		if after != before[i] {
			t.Errorf("%s was restarted", before[i])
		}
	}
	k.apply(t, gpuPod("eight", "gpu3", 8, `["nvidia-smi","-L"]`))
	k.phase(t, "eight", "Succeeded")
	k.ctl(t, "delete pod eight")
	wantChanges(t, c.Up(t))
}

func (k *kubernetes) heal(t *testing.T, c *cluster.Cluster) {
	k.On(t, "gpu1", "systemctl stop kubelet containerd")
	k.ctl(t, "delete node gpu3")
	run := c.Up(t)
	wantSays(t, run, "needs repair", "gpu1", "the cluster has no node gpu3: its kubelet registers it again")
	wantChanges(t, run, "update gpu1", "update gpu3")
	if nodes := k.ctl(t, `get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.allocatable.nvidia\.com/gpu} {end}'`); nodes != "ctl1  gpu1 8 gpu2 8 gpu3 8 " {
		t.Errorf("the nodes are %q", nodes)
	}
	wantChanges(t, c.Up(t))
}

func (k *kubernetes) blocked(t *testing.T, c *cluster.Cluster) {
	k.apply(t, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}`)
	c.Edit(t, "names: gpu[1-3] # all", "names: gpu[1,3] # all", "hosts: gpu[1-3] # under leaf1", "hosts: gpu[1,3] # under leaf1")
	run := c.TryUp(t)
	if run.Err == nil {
		t.Error("up succeeds although a budget keeps a pod on gpu2")
	}
	wantSays(t, run, "gpu2 still runs pods", "violate the pod's disruption budget", "default/web-")
	if node := k.ctl(t, "get node gpu2 -o jsonpath='{.spec.unschedulable}'"); node != "" {
		t.Errorf("gpu2 takes no more pods: %s", node)
	}
	k.ctl(t, "rollout status deployment web --timeout 30s")
}

func (k *kubernetes) shrink(t *testing.T, c *cluster.Cluster) {
	k.ctl(t, "delete pdb web")
	wantChanges(t, c.Up(t), "delete gpu2", "delete gpu2-baseline", "delete gpu2-host")
	if nodes := k.ctl(t, "get nodes --no-headers -o custom-columns=N:.metadata.name"); nodes != "ctl1\ngpu1\ngpu3" {
		t.Errorf("the nodes are %q", nodes)
	}
	k.ctl(t, "rollout status deployment web --timeout 60s")
	wantChanges(t, c.Up(t))
}

func (k *kubernetes) refusedChange(t *testing.T, c *cluster.Cluster) {
	content := c.Content(t)
	c.Edit(t, "queueing: kueue", "queueing: kueue\n      podCIDR: 10.248.0.0/16")
	run := c.TryUp(t)
	if run.Err == nil {
		t.Error("another network of pods is accepted")
	}
	wantSays(t, run, "kubernetes.podCIDR was 10.244.0.0/16 and cannot become 10.248.0.0/16")
	c.Restore(t, content)
	wantChanges(t, c.Up(t))
}

// secrets looks for the administrator's key and the cluster's own.
func (k *kubernetes) secrets(t *testing.T, c *cluster.Cluster) {
	if k.watcher == nil {
		t.Skip("the cluster was not built by this call")
	}
	var all []secret
	for line := range strings.Lines(k.On(t, cluster.Controller, "cat /etc/kubernetes/admin.conf")) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), ": "); key == "client-key-data" {
			all = append(all, secret{"administrator's key", []string{value[len(value)/2:]}})
		}
	}
	authority := strings.Split(strings.TrimSpace(k.On(t, cluster.Controller, "cat /etc/kubernetes/pki/ca.key")), "\n")
	all = append(all, secret{"authority's key", []string{authority[len(authority)/2]}})
	if len(all) != 2 {
		t.Fatalf("%d secrets were found, want 2", len(all))
	}
	wantHidden(t, c, k.watcher, all, cluster.Controller, "gpu1")
}

func (k *kubernetes) refuse(t *testing.T, c *cluster.Cluster) {
	run := c.TryDown(t)
	if run.Err == nil {
		t.Error("destroy succeeds although pods run")
	}
	wantSays(t, run, "pods are on the cluster (1), and nothing was removed", "default/web-")
	k.ctl(t, "delete deployment web")
	k.ctl(t, "wait --for=delete pod -l app=web --timeout 60s")
}

func (k *kubernetes) down(t *testing.T, c *cluster.Cluster) {
	c.Down(t)
	if left := c.Left(t); left != "" {
		t.Errorf("after destroy there is still:\n%s", left)
	}
}
