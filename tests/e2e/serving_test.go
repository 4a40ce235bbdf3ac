package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// Where the control plane has the files of the service, and those by which its
// clients are told to go on.
const (
	servingFolder = "/root/serving"
	serviceFolder = servingFolder + "/tests/e2e/testdata/serving"
	workGoesOn    = servingFolder + "/work"
	askingGoesOn  = servingFolder + "/asking"
	servingPods   = "-n product -l app=answers "
)

// serves has people ask a service for more than one replica can do: the
// autoscaler gives it a second, for which a whole training job of the team makes
// room. An update leaves nobody without an answer, and its budget is kept.
func (k *kubernetes) serves(t *testing.T, c *cluster.Cluster) {
	k.submit(t, alice+"-n research", jobOf("training", 1, teamPod(20001, 8, idle, "")))
	k.becomes(t, "research", "training", "True")
	k.submit(t, bob+"-n product", jobOf("training", 7, teamPod(20002, 1, idle, "")))
	k.becomes(t, "product", "training", "True")
	k.ctl(t, "wait --for=condition=ready pod -l job-name=training -n product --timeout 60s")
	for _, folder := range []string{"examples/serving", "tests/e2e/testdata/serving"} {
		k.On(t, cluster.Controller, "mkdir -p "+path.Dir(path.Join(servingFolder, folder)))
		c.Docker(t, "cp", filepath.Join(c.Checkout.Root, folder), c.Container(cluster.Controller)+":"+path.Join(servingFolder, folder))
	}
	k.ctl(t, bob+"apply -k "+serviceFolder)
	k.ctl(t, "rollout status deployment answers -n product --timeout 60s")
	at := "http://" + k.ctl(t, "get service answers -n product -o jsonpath='{.spec.clusterIP}'")

	asked := time.Now()
	k.On(t, cluster.Controller, "touch "+workGoesOn+" "+askingGoesOn)
	for _, client := range []string{
		"while [ -e " + workGoesOn + " ]; do curl -fs -m 30 -o /dev/null '" + at + "/?work=500ms'; done",
		"while [ -e " + askingGoesOn + " ]; do curl -fsS -m 10 -o /dev/null " + at + " 2>>" + servingFolder + "/failures && echo >>" + servingFolder + "/answers; sleep 0.2; done",
	} {
		c.Docker(t, "exec", "-d", c.Container(cluster.Controller), "sh", "-c", client)
	}
	k.metered(t, "ctl1", "gpu1", "gpu2")
	cluster.Until(t, "the autoscaler to want a second replica", 3*time.Minute, func() error {
		if state := k.ctl(t, "get hpa answers -n product -o jsonpath='{.status.desiredReplicas} {.status.currentMetrics} {.status.conditions[*].message}'"); !strings.HasPrefix(state, "2 ") {
			return errors.New(state)
		}
		return nil
	})
	t.Logf("the autoscaler wanted a second replica %s after the work had begun", time.Since(asked).Round(time.Second))
	cluster.Until(t, "two replicas to serve", time.Minute, func() error {
		if ready := k.ctl(t, "get deployment answers -n product -o jsonpath='{.status.readyReplicas}'"); ready != "2" {
			return fmt.Errorf("%s are ready", ready)
		}
		return nil
	})
	k.On(t, cluster.Controller, "rm "+workGoesOn)
	// It waits as a whole again, for as many GPUs as it has pods.
	k.becomes(t, "product", "training", "False couldn't assign flavors")
	k.ctl(t, "wait --for=delete pod -l job-name=training -n product --timeout 60s")
	if got := k.workloads(t, "research")["training"]; !strings.HasPrefix(got, "True") {
		t.Errorf("the training of another team is %q", got)
	}

	k.ctl(t, bob+"set env deployment answers RELEASE=next -n product")
	k.ctl(t, "rollout status deployment answers -n product --timeout 120s")
	k.On(t, cluster.Controller, "rm "+askingGoesOn)
	if failures := k.On(t, cluster.Controller, "cat "+servingFolder+"/failures"); failures != "" {
		t.Errorf("while the service grew and was updated, people were told\n%s", failures)
	}
	t.Logf("%s answers, %s from the work's beginning to the update's end", k.On(t, cluster.Controller, "wc -l <"+servingFolder+"/answers"), time.Since(asked).Round(time.Second))
	k.budgetIsKept(t)

	for _, namespace := range []string{"research", "product"} {
		k.ctl(t, "delete job training --wait=false -n "+namespace)
	}
	k.ctl(t, bob+"delete -k "+serviceFolder)
	k.ctl(t, "wait --for=delete pod "+servingPods+"--timeout 60s")
	k.On(t, cluster.Controller, "rm -r "+servingFolder)
}

// metered waits for what nodes use, of each of them: metrics-server asks kubelets
// that it knows by the cluster's authority alone.
func (k *kubernetes) metered(t *testing.T, nodes ...string) {
	t.Helper()
	cluster.Until(t, "metrics of all nodes", 2*time.Minute, func() error {
		out, err := k.TryOn(t, cluster.Controller, "kubectl --kubeconfig /etc/kubernetes/admin.conf top nodes --no-headers")
		if err != nil {
			return err
		}
		for _, node := range nodes {
			if !strings.Contains("\n"+out, "\n"+node+" ") || strings.Contains(out, "unknown") {
				return errors.New(out)
			}
		}
		return nil
	})
	var list struct {
		Items []struct {
			Usage struct{ CPU, Memory string }
		}
	}
	if err := json.Unmarshal([]byte(k.ctl(t, "get --raw /apis/metrics.k8s.io/v1beta1/nodes")), &list); err != nil {
		t.Fatal(err)
	}
	for _, node := range list.Items {
		if node.Usage.CPU == "" || node.Usage.CPU == "0" || node.Usage.Memory == "" || node.Usage.Memory == "0" {
			t.Errorf("a node uses nothing: %+v", list)
		}
	}
	if len(list.Items) != len(nodes) {
		t.Errorf("%d nodes have metrics, want %d", len(list.Items), len(nodes))
	}
	t.Log(k.ctl(t, "top pods -n kube-system --no-headers -l app.kubernetes.io/name=metrics-server"))
}

// budgetIsKept evicts both replicas at once: only one may go.
func (k *kubernetes) budgetIsKept(t *testing.T) {
	t.Helper()
	var pods []string
	cluster.Until(t, "two replicas, of which one may go", time.Minute, func() error {
		pods = strings.Fields(k.ctl(t, "get pods "+servingPods+"-o jsonpath='{.items[*].metadata.name}'"))
		if allowed := k.ctl(t, "get pdb answers -n product -o jsonpath='{.status.disruptionsAllowed}'"); allowed != "1" || len(pods) != 2 {
			return fmt.Errorf("of %q may go %q", pods, allowed)
		}
		return nil
	})
	evict := func(pod string) string {
		return `echo '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"` + pod + `","namespace":"product"}}' | kubectl --kubeconfig /etc/kubernetes/admin.conf create --raw /api/v1/namespaces/product/pods/` + pod + `/eviction -f - >/dev/null`
	}
	if out, err := k.TryOn(t, cluster.Controller, evict(pods[0])+" || exit 9; "+evict(pods[1])); err == nil || !strings.Contains(err.Error(), "violate the pod's disruption budget") {
		t.Errorf("both replicas were evicted at once: %s %v", out, err)
	}
}
