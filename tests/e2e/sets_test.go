package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// sets runs a JobSet of a leader and two workers to its end, and has a
// LeaderWorkerSet serve: each is one workload, that its team's queue admits whole.
func (k *kubernetes) sets(t *testing.T, _ *cluster.Cluster) {
	part := func(name string, pods int) string {
		return fmt.Sprintf(`{"name":%q,"template":{"spec":{"parallelism":%[2]d,"completions":%[2]d,"backoffLimit":0,"template":{"spec":%s}}}}`,
			name, pods, teamPod(20001, 2, checkImage, `"command":["nvidia-smi","-L"],`))
	}
	k.submit(t, alice+"-n research", `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"trains"},"spec":{"replicatedJobs":[`+part("leader", 1)+`,`+part("workers", 2)+`]}}`)
	// The pods of this one never end.
	serves := strings.Replace(teamPod(20002, 2, idle, ""), `"restartPolicy":"Never",`, "", 1)
	k.submit(t, bob+"-n product", `{"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","metadata":{"name":"model"},"spec":{"replicas":1,"leaderWorkerTemplate":{"size":2,"workerTemplate":{"spec":`+serves+`}}}}`)
	k.ctl(t, "wait --for=condition=Completed jobset/trains -n research --timeout 90s")
	if pods := k.ctl(t, "get pods -n research -l jobset.sigs.k8s.io/jobset-name=trains -o jsonpath='{.items[*].status.phase}'"); pods != "Succeeded Succeeded Succeeded" {
		t.Errorf("the pods of a JobSet are %s", pods)
	}
	cluster.Until(t, "a leader and its worker to run", time.Minute, func() error {
		if pods := k.ctl(t, "get pods -n product -l leaderworkerset.sigs.k8s.io/name=model -o jsonpath='{.items[*].status.phase}'"); pods != "Running Running" {
			return errors.New(pods)
		}
		return nil
	})
	for namespace, kind := range map[string]string{"research": "JobSet", "product": "LeaderWorkerSet"} {
		admitted := k.ctl(t, "get workloads.kueue.x-k8s.io -n "+namespace+` -o jsonpath='{range .items[*]}{.metadata.ownerReferences[0].kind} {.status.conditions[?(@.type=="Admitted")].status};{end}'`)
		if admitted != kind+" True;" {
			t.Errorf("the workloads of %s are %s", namespace, admitted)
		}
	}
	k.ctl(t, bob+"delete leaderworkerset model -n product")
	k.ctl(t, alice+"delete jobset trains -n research")
	k.ctl(t, "wait --for=delete pod -l leaderworkerset.sigs.k8s.io/name=model -n product --timeout 60s")
}
