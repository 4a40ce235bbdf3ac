package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// Two people of different teams, as the API server knows them.
const (
	alice = "--as alice --as-group research "
	bob   = "--as bob --as-group product "
)

// teamPod is the spec of a pod as team research may run it. It names no queue.
func teamPod(id, gpus int, image, command string) string {
	return fmt.Sprintf(`{"restartPolicy":"Never","terminationGracePeriodSeconds":1,
"securityContext":{"runAsNonRoot":true,"runAsUser":%[1]d,"runAsGroup":%[1]d,"seccompProfile":{"type":"RuntimeDefault"}},
"containers":[{"name":"c","image":%[3]q,%[4]s"resources":{"limits":{"nvidia.com/gpu":"%[2]d"}},"securityContext":{"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]}`,
		id, gpus, image, command)
}

// idle is what a job runs that ends when it is told to.
const idle = "registry.k8s.io/pause:3.10.2"

func jobOf(name string, pods int, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":%q},"spec":{"parallelism":%[2]d,"completions":%[2]d,"template":{"spec":%s}}}`, name, pods, spec)
}

// try gives the cluster an object as somebody.
func (k *kubernetes) try(t *testing.T, words, manifest string) error {
	t.Helper()
	_, err := cluster.Exec(t, k.Container(cluster.Controller), "kubectl --kubeconfig /etc/kubernetes/admin.conf "+words+" create -f -", manifest)
	return err
}

func (k *kubernetes) submit(t *testing.T, words, manifest string) {
	t.Helper()
	if err := k.try(t, words, manifest); err != nil {
		t.Fatal(err)
	}
}

// workloads says of each job of a team whether Kueue has admitted it.
func (k *kubernetes) workloads(t *testing.T, namespace string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for line := range strings.Lines(k.ctl(t, "get workloads.kueue.x-k8s.io -n "+namespace+
		` -o jsonpath='{range .items[*]}{.metadata.ownerReferences[0].name}={.status.conditions[?(@.type=="Admitted")].status} {.status.conditions[?(@.type=="QuotaReserved")].message}{"\n"}{end}'`)) {
		name, state, _ := strings.Cut(strings.TrimSpace(line), "=")
		out[name] = state
	}
	return out
}

// becomes waits until what is said of a job begins with want.
func (k *kubernetes) becomes(t *testing.T, namespace, job, want string) {
	t.Helper()
	cluster.Until(t, job+" to be "+want, time.Minute, func() error {
		if state := k.workloads(t, namespace)[job]; !strings.HasPrefix(state, want) {
			return errors.New(state)
		}
		return nil
	})
}

// admitted runs a job to its end, from the queue to the kubelet.
func (k *kubernetes) admitted(t *testing.T, c *cluster.Cluster) {
	k.submit(t, alice+"-n research", jobOf("first", 1, teamPod(20001, 8, checkImage, `"command":["nvidia-smi","-L"],`)))
	k.ctl(t, "wait --for=condition=complete job/first -n research --timeout 60s")
	t.Logf("a job ran %s after the first up had begun", time.Since(k.began).Round(time.Second))
	if out := k.ctl(t, alice+"-n research logs job/first"); strings.Count(out, "GPU ") != 8 {
		t.Errorf("a job that asked for 8 GPUs sees\n%s", out)
	}
	k.ctl(t, "delete job first -n research")
}

// quota has a team borrow what another does not use, and give it back.
func (k *kubernetes) quota(t *testing.T, c *cluster.Cluster) {
	for _, name := range []string{"own", "borrows", "waits"} {
		k.submit(t, alice+"-n research", jobOf(name, 1, teamPod(20001, 8, idle, "")))
		if name != "waits" {
			k.becomes(t, "research", name, "True")
		}
	}
	k.becomes(t, "research", "waits", " couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor h100, 8 more needed")
	k.submit(t, bob+"-n product", jobOf("reclaims", 1, teamPod(20002, 8, idle, "")))
	k.becomes(t, "product", "reclaims", "True")
	k.ctl(t, "wait --for=condition=ready pod -l job-name=reclaims -n product --timeout 60s")
	if got := k.workloads(t, "research"); got["own"][:4] != "True" || strings.HasPrefix(got["borrows"], "True") {
		t.Errorf("after another team took its own back, the jobs are %v", got)
	}
	k.ctl(t, "delete job own -n research")
	cluster.Until(t, "a waiting job to start", time.Minute, func() error {
		for name, state := range k.workloads(t, "research") {
			if strings.HasPrefix(state, "True") && name != "own" {
				return nil
			}
		}
		return errors.New("both wait")
	})
	k.ctl(t, "delete job --all -n research")
	k.ctl(t, "delete job --all -n product")
}

// gang asks for more than there is: none of it is held meanwhile.
func (k *kubernetes) gang(t *testing.T, c *cluster.Cluster) {
	k.submit(t, alice+"-n research", jobOf("gang", 3, teamPod(20001, 8, idle, "")))
	k.becomes(t, "research", "gang", " couldn't assign flavors to pod set main")
	k.submit(t, bob+"-n product", jobOf("small", 1, teamPod(20002, 8, idle, "")))
	k.becomes(t, "product", "small", "True")
	if pods := k.ctl(t, "get pods -n research -o name"); pods != "" {
		t.Errorf("a job that cannot start whole has %s", pods)
	}
	k.ctl(t, "delete job gang -n research")
	k.ctl(t, "delete job small -n product")
}

// tenancy tries what a team must not do.
func (k *kubernetes) tenancy(t *testing.T, c *cluster.Cluster) {
	bare := func(spec string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"bare"},"spec":` + spec + `}`
	}
	good := teamPod(20001, 8, idle, "")
	for name, c := range map[string]struct{ words, manifest, want string }{
		"another's uid":   {alice + "-n research", bare(strings.Replace(good, `"runAsUser":20001`, `"runAsUser":20002`, 1)), "set runAsUser of the pod or of each container to an id of team research: 20001"},
		"root":            {alice + "-n research", bare(strings.Replace(good, `"runAsUser":20001`, `"runAsUser":0`, 1)), "runAsUser=0"},
		"a host's folder": {alice + "-n research", bare(strings.Replace(good, "{", `{"volumes":[{"name":"h","hostPath":{"path":"/"}}],`, 1)), "hostPath"},
		"another's team":  {alice + "-n product", bare(good), `cannot create resource "pods" in API group "" in the namespace "product"`},
		"no team's":       {alice + "-n default", bare(good), `cannot create resource "pods" in API group "" in the namespace "default"`},
	} {
		if err := k.try(t, c.words, c.manifest); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// One that names no queue is held by it all the same.
	k.submit(t, bob+"-n product", jobOf("all", 2, teamPod(20002, 8, idle, "")))
	k.becomes(t, "product", "all", "True")
	k.submit(t, alice+"-n research", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"lone"},"spec":{"selector":{"matchLabels":{"app":"lone"}},"template":{"metadata":{"labels":{"app":"lone"}},"spec":`+
		strings.Replace(teamPod(20001, 16, idle, ""), `"restartPolicy":"Never",`, "", 1)+`}}}`)
	cluster.Until(t, "the pod of a Deployment", time.Minute, func() error {
		if gates := k.ctl(t, "get pods -n research -l app=lone -o jsonpath='{.items[*].spec.schedulingGates[*].name}'"); !strings.Contains(gates, "kueue.x-k8s.io/admission") {
			return fmt.Errorf("its gates are %q", gates)
		}
		return nil
	})
	k.ctl(t, "delete deployment lone -n research")
	k.ctl(t, "delete job all -n product")
}

// queueGone removes Kueue's manager: teams cannot submit, others can, and an
// update puts it back.
func (k *kubernetes) queueGone(t *testing.T, c *cluster.Cluster) {
	k.ctl(t, "delete deployment kueue-controller-manager -n kueue-system")
	k.ctl(t, "wait --for=delete pod -l control-plane=controller-manager -n kueue-system --timeout 60s")
	job := jobOf("unqueued", 1, teamPod(20001, 1, checkImage, `"command":["nvidia-smi","-L"],`))
	if err := k.try(t, alice+"-n research", job); err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Errorf("a team's job without Kueue: %v", err)
	}
	k.submit(t, "", job)
	k.ctl(t, "wait --for=condition=complete job/unqueued --timeout 60s")
	k.ctl(t, "delete job unqueued")
	run := c.Up(t)
	wantSays(t, run, "no object of Kueue is admitted")
	wantChanges(t, run, "update kueue-release", "update kueue-ready")
	wantChanges(t, c.Up(t))
	k.submit(t, alice+"-n research", job)
	k.ctl(t, "wait --for=condition=complete job/unqueued -n research --timeout 60s")
	k.ctl(t, "delete job unqueued -n research")
}

// teamGoes takes a team out of the environment: not while it is at work.
func (k *kubernetes) teamGoes(t *testing.T, c *cluster.Cluster) {
	k.submit(t, bob+"-n product", jobOf("at-work", 1, teamPod(20002, 1, idle, "")))
	k.ctl(t, "wait --for=condition=ready pod -l job-name=at-work -n product --timeout 60s")
	content := c.Content(t)
	c.Edit(t, "        - {name: product, groups: [product], cohort: lab, gpus: {h100: {nominal: 8}}}\n", "")
	run := c.TryUp(t)
	if run.Err == nil {
		t.Error("a team that is at work is removed")
	}
	wantSays(t, run, "team product is at work in namespace product", "pod at-work-", "job at-work")
	if state := k.workloads(t, "product")["at-work"]; !strings.HasPrefix(state, "True") {
		t.Errorf("the job of a team that was to go is %q", state)
	}
	k.ctl(t, "delete job at-work -n product")
	c.Up(t)
	if left := k.ctl(t, "get namespace,clusterqueue,validatingadmissionpolicy -o name | grep product || true"); left != "" {
		t.Errorf("of a team that went there is still\n%s", left)
	}
	c.Restore(t, content)
	c.Up(t)
	wantChanges(t, c.Up(t))
}
