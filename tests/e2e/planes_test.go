package e2e

import (
	_ "embed"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// planes is an environment of three control planes and a GPU host.
//
//go:embed testdata/planes.yaml
var planes string

// TestControlPlanes loses control planes, the one on which the cluster began
// among them, while pods run.
func TestControlPlanes(t *testing.T) {
	long(t)
	t.Parallel()
	p := &controlPlanes{kubernetes{Cluster: cluster.New(t, "planes", planes)}}
	runStages(t, p.Cluster, []stage{
		{"up from nothing", p.up, true, false},
		{"the first control plane dies, and nobody notices", p.die, true, false},
		{"it comes back", p.heal, true, false},
		{"one that is lost is replaced by another host", p.replace, true, false},
		{"destroy leaves nothing without any control plane", p.down, true, false},
	})
}

type controlPlanes struct{ kubernetes }

// members are those of etcd that are healthy, asked through a control plane.
func (p *controlPlanes) members(t *testing.T, host string) string {
	t.Helper()
	keys := "--cacert /etc/kubernetes/pki/etcd/ca.crt --cert /etc/kubernetes/pki/etcd/peer.crt --key /etc/kubernetes/pki/etcd/peer.key"
	return p.through(t, host, "-n kube-system exec etcd-"+host+" -- etcdctl --endpoints https://127.0.0.1:2379 "+keys+
		" endpoint health --cluster 2>&1 | grep -c 'is healthy'")
}

// through runs kubectl on a host.
func (p *controlPlanes) through(t *testing.T, host, words string) string {
	t.Helper()
	return p.On(t, host, "kubectl --kubeconfig /etc/kubernetes/admin.conf "+words)
}

func (p *controlPlanes) up(t *testing.T, c *cluster.Cluster) {
	wantSays(t, c.Up(t), "smoke pods: ready")
	if got := p.members(t, "ctl1"); got != "3" {
		t.Errorf("%s members of etcd are healthy, want 3", got)
	}
	saved := strings.Fields(p.On(t, "ctl1", "stat -c '%a %U' /var/backups/gpucluster /var/backups/gpucluster/etcd-*.db | sort | uniq -c"))
	if got := strings.Join(saved, " "); got != "2 600 root 1 700 root" {
		t.Errorf("before two joined, etcd's data was saved as %q", got)
	}
}

// job is a pod that a Job starts and that does not end by itself.
func (p *controlPlanes) job(t *testing.T, through, name string) {
	t.Helper()
	p.through(t, through, "create job "+name+" --image registry.k8s.io/pause:3.10.2")
	p.runs(t, through, name)
}

// runs waits for the pod of a Job.
func (p *controlPlanes) runs(t *testing.T, through, name string) {
	t.Helper()
	cluster.Until(t, name+" to run", 2*time.Minute, func() error {
		// One that the machine is too busy to answer is asked again.
		state, err := p.TryOn(t, through, "kubectl --kubeconfig /etc/kubernetes/admin.conf get pods -l job-name="+name+` -o jsonpath='{range .items[*]}{.status.phase} {.status.containerStatuses[*].restartCount}{end}'`)
		if err == nil && state != "Running 0" {
			err = errors.New(state)
		}
		return err
	})
}

// passes asks the API again and again through a host's balancer, while that
// finds out which control plane is dead. Clients give up a handshake after 10 s:
// each question has to reach one that works before.
func (p *controlPlanes) passes(t *testing.T, host string) {
	t.Helper()
	out, err := p.TryOn(t, host, `for i in $(seq 12); do curl -fsS -k -m 10 -o /dev/null https://127.0.0.1:6444/livez || exit 1; sleep 0.3; done 2>&1`)
	if err != nil {
		t.Errorf("the balancer of %s does not pass all questions on: %v %s", host, err, out)
	}
}

func (p *controlPlanes) die(t *testing.T, c *cluster.Cluster) {
	p.job(t, "ctl1", "before")
	began := c.Starts(t, "kubelet", "gpu1")[0]
	p.Docker(t, "kill", p.Container("ctl1"))
	died := time.Now()
	var balancers sync.WaitGroup
	for _, host := range []string{"gpu1", "ctl2", "ctl3"} {
		balancers.Go(func() { p.passes(t, host) })
	}
	balancers.Wait()
	p.job(t, "ctl2", "after")
	t.Logf("a new pod runs %.1f s after it", time.Since(died).Seconds())
	p.runs(t, "ctl3", "before")
	if now := c.Starts(t, "kubelet", "gpu1")[0]; now != began {
		t.Errorf("the worker's kubelet was restarted: %s, then %s", began, now)
	}
}

func (p *controlPlanes) heal(t *testing.T, c *cluster.Cluster) {
	run := c.Up(t)
	wantSays(t, run, "needs repair", "ctl1")
	wantChanges(t, run, "update ctl1-host", "update ctl1-baseline", "update ctl1-control-plane")
	if got := p.members(t, "ctl1"); got != "3" {
		t.Errorf("%s members of etcd are healthy, want 3", got)
	}
}

// replace loses the first control plane with its disk, and gives its place to
// another host.
func (p *controlPlanes) replace(t *testing.T, c *cluster.Cluster) {
	began := c.Starts(t, "kubelet", "gpu1")[0]
	p.Docker(t, "rm", "-f", p.Container("ctl1"))
	c.Edit(t, `"ctl[1-3]"`, `"ctl[2-4]"`)
	run := c.Up(t)
	wantSays(t, run, "etcd forgets ctl1", "etcd's data is saved in")
	if got := p.members(t, "ctl4"); got != "3" {
		t.Errorf("%s members of etcd are healthy, want 3", got)
	}
	nodes := p.through(t, "ctl2", "get nodes --no-headers -o custom-columns=N:.metadata.name")
	if want := "ctl2\nctl3\nctl4\ngpu1"; nodes != want {
		t.Errorf("the nodes are %q, want %q", nodes, want)
	}
	if known := p.On(t, "gpu1", "grep -o 'server ctl.' /etc/gpucluster-kubernetes/haproxy.cfg | xargs"); known != "server ctl2 server ctl3 server ctl4" {
		t.Errorf("the worker's balancer leads to %s", known)
	}
	if now := c.Starts(t, "kubelet", "gpu1")[0]; now != began {
		t.Errorf("the worker's kubelet was restarted: %s, then %s", began, now)
	}
	p.runs(t, "ctl4", "before")
	p.runs(t, "ctl4", "after")
	wantChanges(t, c.Up(t))
}

func (p *controlPlanes) down(t *testing.T, c *cluster.Cluster) {
	for _, host := range []string{"ctl2", "ctl3", "ctl4"} {
		p.Docker(t, "rm", "-f", p.Container(host))
	}
	c.Down(t)
	if left := c.Left(t); left != "" {
		t.Errorf("after destroy there is still:\n%s", left)
	}
}
