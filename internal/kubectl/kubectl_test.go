package kubectl

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// answers is a kubectl that gives the answer whose key the command contains, and
// remembers what it was asked.
type answers struct {
	given map[string]string
	asked []string
}

func (a *answers) client() *Client {
	return &Client{Poll: time.Millisecond, Runner: shell.RunnerFunc(func(_ context.Context, command string, stdin []byte) ([]byte, error) {
		a.asked = append(a.asked, strings.TrimSpace(command+" "+string(stdin)))
		for words, answer := range a.given {
			if !strings.Contains(command, words) {
				continue
			}
			if why, failed := strings.CutPrefix(answer, "!"); failed {
				return nil, &shell.ExitError{Command: command, Status: 1, Stderr: why}
			}
			return []byte(answer), nil
		}
		return nil, nil
	})}
}

func (a *answers) wasAsked(words string) bool {
	for _, command := range a.asked {
		if strings.Contains(command, words) {
			return true
		}
	}
	return false
}

func nodeJSON(ready, gpus, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":"gpu1"},"spec":{%s},"status":{"allocatable":{"cpu":"192","nvidia.com/gpu":%q},
"conditions":[{"type":"MemoryPressure","status":"False","reason":"Fine","message":"fine"},{"type":"Ready","status":%q,"reason":"KubeletNotReady","message":"cni plugin not initialized"}],
"nodeInfo":{"kubeletVersion":"v1.36.3"}}}`, spec, gpus, ready)
}

func TestNode(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   Node
		err    error
	}{
		"ready":         {nodeJSON("True", "8", ""), Node{Name: "gpu1", Ready: true, Why: "KubeletNotReady: cni plugin not initialized", GPUs: 8, Version: "v1.36.3"}, nil},
		"not ready":     {nodeJSON("False", "0", ""), Node{Name: "gpu1", Why: "KubeletNotReady: cni plugin not initialized", Version: "v1.36.3"}, nil},
		"not heard of":  {nodeJSON("Unknown", "8", ""), Node{Name: "gpu1", Why: "KubeletNotReady: cni plugin not initialized", GPUs: 8, Version: "v1.36.3"}, nil},
		"closed":        {nodeJSON("True", "8", `"taints":[{"key":"gpucluster/validating","effect":"NoSchedule"}]`), Node{Name: "gpu1", Ready: true, Why: "KubeletNotReady: cni plugin not initialized", Closed: true, GPUs: 8, Version: "v1.36.3"}, nil},
		"cordoned":      {nodeJSON("True", "8", `"unschedulable":true`), Node{Name: "gpu1", Ready: true, Why: "KubeletNotReady: cni plugin not initialized", Cordoned: true, GPUs: 8, Version: "v1.36.3"}, nil},
		"labelled":      {`{"metadata":{"name":"gpu1","labels":{"a":"b"}}}`, Node{Name: "gpu1", Why: "its kubelet has not reported", Labels: map[string]string{"a": "b"}}, nil},
		"just appeared": {`{"metadata":{"name":"gpu1"}}`, Node{Name: "gpu1", Why: "its kubelet has not reported"}, nil},
		"none":          {`!Error from server (NotFound): nodes "gpu1" not found`, Node{}, ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&answers{given: map[string]string{"get -o json node gpu1": c.answer}}).client().Node(t.Context(), "gpu1")
			if !reflect.DeepEqual(got, c.want) || !errors.Is(err, c.err) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestWaitReady(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"ready":        {nodeJSON("True", "8", ""), ""},
		"not ready":    {nodeJSON("False", "8", ""), "waiting 0s for gpu1: KubeletNotReady: cni plugin not initialized"},
		"GPUs missing": {nodeJSON("True", "7", ""), "it offers 7 GPUs, and 8 are declared"},
		"no GPUs":      {nodeJSON("True", "", ""), "it offers 0 GPUs, and 8 are declared"},
		"garbage":      {"<html>", "reading what kubectl says"},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&answers{given: map[string]string{"get -o json node": c.answer}}).client().WaitReady(t.Context(), "gpu1", 8, 0)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

const budget = `error when evicting pods/"web-1" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.`

// TestDrain checks what is said of pods that stay, and that the node is then as
// it was.
func TestDrain(t *testing.T) {
	const pods = `{"items":[
{"metadata":{"namespace":"shop","name":"web-1","ownerReferences":[{"kind":"ReplicaSet"}]},"status":{"phase":"Running"}},
{"metadata":{"namespace":"kube-system","name":"proxy","ownerReferences":[{"kind":"DaemonSet"}]},"status":{"phase":"Running"}},
{"metadata":{"namespace":"shop","name":"done"},"status":{"phase":"Succeeded"}}]}`
	for name, c := range map[string]struct {
		drain, spec string
		want        string
		uncordoned  bool
	}{
		"empty":                {"node/gpu1 drained", "", "", false},
		"a budget":             {"!" + budget + "\n" + budget + "\nerror: global timeout reached", "", "gpu1 still runs pods after 3s, and nothing was forced:\n  shop/web-1, Running\n  " + budget, true},
		"cordoned by somebody": {"!" + budget, `"unschedulable":true`, "shop/web-1, Running", false},
		"a run was cut off":    {"!" + budget, `"unschedulable":true},"metadata":{"annotations":{"gpucluster/cordoned":"yes"}`, "shop/web-1, Running", true},
		"a pod of nobody":      {"!error: unable to drain node: cannot delete cannot delete Pods that declare no controller (use --force to override): shop/bare", "", "declare no controller", true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{given: map[string]string{"get -o json node": nodeJSON("True", "8", c.spec), "drain gpu1": c.drain, "get -o json pods": pods}}
			err := a.client().Drain(t.Context(), "gpu1", 3*time.Second)
			var blocked *Blocked
			if errors.As(err, &blocked) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if a.wasAsked("uncordon gpu1") != c.uncordoned {
				t.Errorf("uncordoned: %v, want %v", !c.uncordoned, c.uncordoned)
			}
			if !a.wasAsked("--timeout 3s") || a.wasAsked("--force") {
				t.Errorf("asked %q", a.asked)
			}
		})
	}
}

func TestRunCheck(t *testing.T) {
	pod := func(phase, more string) string {
		return fmt.Sprintf(`{"metadata":{"name":"validate-gpu1"},"status":{"phase":%q%s}}`, phase, more)
	}
	for name, c := range map[string]struct{ pod, logs, want string }{
		"passes":            {pod("Succeeded", ""), "GPU 0: H100\n", ""},
		"fails":             {pod("Failed", ""), "no devices\n", "the pod on gpu1 failed: no devices"},
		"no place for it":   {pod("Pending", `,"conditions":[{"status":"False","reason":"Unschedulable","message":"0/3 nodes are available: 3 Insufficient nvidia.com/gpu."}]`), "", "it is Pending: Unschedulable: 0/3 nodes are available"},
		"no image":          {pod("Pending", `,"containerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image"}}}]`), "", "it is Pending: ImagePullBackOff: Back-off pulling image"},
		"evicted meanwhile": {pod("Failed", `,"reason":"Evicted","message":"The node was low on resource: memory."`), "", "failed: Evicted: The node was low on resource: memory."},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{given: map[string]string{"get -o json pod -n": c.pod, " logs ": c.logs}}
			out, err := a.client().RunCheck(t.Context(), Check{Name: "validate-gpu1", Node: "gpu1", GPUs: 8, Image: "x:1", Command: []string{"nvidia-smi", "-L"}, Limit: time.Nanosecond})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || err == nil && out != c.logs {
				t.Errorf("got %q, %v, want %q", out, err, c.want)
			}
			if last := a.asked[len(a.asked)-1]; !strings.Contains(last, "delete pod -n gpucluster-system validate-gpu1") {
				t.Errorf("the last thing asked is %q, and the pod stays", last)
			}
			if !a.wasAsked(`"nvidia.com/gpu":"8"`) || !a.wasAsked(`"key":"gpucluster/validating"`) {
				t.Errorf("asked %q", a.asked)
			}
		})
	}
}

// TestTokensTravelNowhere checks that of a token only its first part, which is
// no secret, stands in a command line.
func TestTokensTravelNowhere(t *testing.T) {
	a := &answers{given: map[string]string{"token create": "abcdef.0123456789abcdef\n", "cat": "authority"}}
	c := a.client()
	token, authority, err := c.Token(t.Context(), 10*time.Minute)
	if err != nil || token != "abcdef.0123456789abcdef" || authority != "authority" {
		t.Fatalf("got %q, %q, %v", token, authority, err)
	}
	if err := c.ForgetToken(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	if a.wasAsked("0123456789abcdef") || !a.wasAsked("token delete") || !a.wasAsked("--ttl 10m0s") {
		t.Errorf("asked %q", a.asked)
	}
}

func TestHasDNS(t *testing.T) {
	const deployment, service = `{"kind":"Deployment"}`, `{"kind":"Service"}`
	for name, c := range map[string]struct{ answer, want string }{
		"whole":          {`{"items":[` + deployment + "," + service + `]}`, ""},
		"no deployment":  {`{"items":[` + service + `]}`, "the cluster has lost the Deployment of its DNS"},
		"no service":     {`{"items":[` + deployment + `]}`, "the cluster has lost the Service of its DNS"},
		"nothing":        {`{"items":[]}`, "the cluster has lost the Deployment of its DNS"},
		"nobody answers": {`!no route`, "asking for the cluster's DNS"},
	} {
		err := (&answers{given: map[string]string{"get -o json deployment,service -n kube-system": c.answer}}).client().HasDNS(t.Context())
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
