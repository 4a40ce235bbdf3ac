package kubestep

import (
	"errors"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

const nodeLabels = `"labels":{"gpucluster/gpu":"h100"}`

// node is a kubectl whose API server answers, with gpu1 as that JSON.
func node(spec, ready, gpus string) string {
	return `case "$*" in
*"get -o json node gpu1"*) echo '{"metadata":{"name":"gpu1",` + nodeLabels + `},"spec":{` + spec + `},"status":{"allocatable":{"nvidia.com/gpu":"` + gpus + `"},"conditions":[{"type":"Ready","status":"` + ready + `","reason":"KubeletNotReady","message":"not yet"}]}}' ;;
esac`
}

// labelled is one that knows it with other labels.
func labelled(labels string) string {
	return strings.Replace(node("", "True", "8"), nodeLabels, `"labels":{`+labels+`}`, 1)
}

// noNode is one that does not know it.
const noNode = `case "$*" in
*"get -o json node"*) echo 'Error from server (NotFound): nodes "gpu1" not found' >&2; exit 1 ;;
esac`

var spec = MemberSpec{Host: "gpu1", ControlPlanes: []string{"ctl1"}, Endpoint: "ctl1:6443", Version: "v1.36.3", GPUs: 8, EvictionDeadline: "1s",
	Node: map[string]any{"kubernetes_node_endpoint": "ctl1:6443", "kubernetes_node_binaries_url": "http://x", "kubernetes_node_files": []any{}},
	Vars: map[string]any{"kubernetes_worker_cluster": "env"}}

// TestWhoseFault checks whose failure closes a host: its own, and not one of the
// deployer or the control plane.
func TestWhoseFault(t *testing.T) {
	const fails = `echo '{"event":"result","host":"gpu1","status":"failed","task":"kubernetes_node : Have programs","message":"no disk"}'; exit 2`
	for name, c := range map[string]struct {
		ansible, kubectl string
		unprepared       string
		run              string // the outcome's reason; empty: the run fails
		closed           bool
	}{
		"a task fails on the host": {ansible: fails, kubectl: node("", "True", "8"), run: "Have programs: no disk", closed: true},
		"a new host fails":         {ansible: fails, kubectl: noNode, run: "Have programs: no disk", closed: true},
		"Ansible itself fails":     {ansible: `echo "ERROR! no space left" >&2; exit 1`, kubectl: node("", "True", "8")},
		"the API server is lost":   {ansible: fails, kubectl: silent},
		"the host is not prepared": {ansible: "exit 1", kubectl: node("", "True", "8"), unprepared: "uid 20001 is taken", run: "takes no work until its preparation succeeds", closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"ansible-playbook": c.ansible, "kubectl": c.kubectl})
			s.Entries = map[string]string{hoststep.EnvUnprepared: c.unprepared}
			result, err := applyMember(t.Context(), s.Input(t, spec, "gpu1", "ctl1"))
			if (err == nil) != (c.run != "") {
				t.Fatalf("result %+v, error %v", result, err)
			}
			if err == nil {
				if outcome := result.(step.Outcome); outcome.Status != step.StatusQuarantined || !strings.Contains(outcome.Reason, c.run) {
					t.Errorf("outcome %+v, want a quarantine that says %q", outcome, c.run)
				}
			}
			if closed := strings.Contains(s.Asked(), "gpucluster/validating=:NoSchedule"); closed != c.closed {
				t.Errorf("closed: %v, want %v:\n%s", closed, c.closed, s.Asked())
			}
		})
	}
}

// request is what a kubelet asks to be signed, as the API has it.
const request = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlJQkZEQ0J2QUlCQURBeU1SVXdFd1lEVlFRS0RBeHplWE4wWlcwNmJtOWtaWE14R1RBWEJnTlZCQU1NRUhONQpjM1JsYlRwdWIyUmxPbWR3ZFRFd1dUQVRCZ2NxaGtqT1BRSUJCZ2dxaGtqT1BRTUJCd05DQUFRVE5YZGNma1hKCmErOUtpUXVZZVZmWUExMVlEY1ZBdFpkMFpQbjNtMVZNa2xXVmVWbk1ZbWJITnpUMUw1WGJBVmpSRXRuU0NHMjAKTWZTdk55Wi84S29Nb0Nnd0pnWUpLb1pJaHZjTkFRa09NUmt3RnpBVkJnTlZIUkVFRGpBTWdnUm5jSFV4aHdUQQpBQUlMTUFvR0NDcUdTTTQ5QkFNQ0EwY0FNRVFDSUFJVXM5aHlERVkyRGVTdm52b0RhZXlmNkJOOFpTUDlKeTdxClpDWlo4QURuQWlCdVdjaTcyWU55bUVoa2Y1VVNSYWdKejM4RzVidUhnUUR6V1U5MXJDamRPUT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="

// TestProbe checks what keeps a member from being healthy.
func TestProbe(t *testing.T) {
	const runs = "exit 0"
	for name, c := range map[string]struct{ systemctl, kubectl, want string }{
		"healthy":                {runs, node("", "True", "8"), ""},
		"the kubelet is stopped": {`[ "$3" != kubelet ]`, node("", "True", "8"), "kubelet does not run on gpu1"},
		"not ready":              {runs, node("", "False", "8"), "gpu1 is not ready: KubeletNotReady: not yet"},
		"still closed":           {runs, node(`"taints":[{"key":"gpucluster/validating"}]`, "True", "8"), "gpu1 is still closed"},
		"a run was cut off":      {runs, strings.ReplaceAll(node(`"unschedulable":true`, "True", "8"), `"name":"gpu1"`, `"name":"gpu1","annotations":{"gpucluster/cordoned":"yes"}`), "gpu1 is still cordoned by a run that was cut off"},
		"a GPU is missing":       {runs, node("", "True", "7"), "gpu1 offers 7 GPUs, and 8 are declared"},
		"a label is another":     {runs, labelled(`"gpucluster/gpu":"a100","of-others":"x"`), "gpu1 has the label gpucluster/gpu=a100, not h100"},
		"a label is lost":        {runs, labelled(`"of-others":"x"`), "gpu1 has lost the label gpucluster/gpu=h100"},
		"not a member":           {runs, noNode, "not found"},
		"a person has cordoned":  {runs, node(`"unschedulable":true`, "True", "8"), ""},
		"nobody can be asked":    {runs, silent, ""},
		"it cannot serve": {runs, strings.Replace(node("", "True", "8"), "esac", `*signingrequests*) echo "csr-1 system:node:gpu1 `+request+` " ;;
esac`, 1), "gpu1: its kubelet waits for the certificate with which it serves"},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"systemctl": c.systemctl, "kubectl": c.kubectl})
			member := spec
			member.Labels = map[string]string{"gpucluster/gpu": "h100"}
			err := probeMember(t.Context(), s.Input(t, member, "gpu1", "ctl1"))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestLeave checks what is done before a host leaves, and what keeps it.
func TestLeave(t *testing.T) {
	blocked := `case "$*" in
*drain*) echo 'error when evicting pods/"web" -n "shop" (will retry after 5s): Cannot evict pod as it would violate the pod'"'"'s disruption budget.' >&2; exit 1 ;;
*"get -o json pods"*) echo '{"items":[{"metadata":{"namespace":"shop","name":"web"},"status":{"phase":"Running"}}]}' ;;
*) ` + node("", "True", "8") + `
;;
esac`
	for name, c := range map[string]struct {
		kubectl, plane, override string
		asked, notAsked          string
		want                     string
	}{
		"its pods are evicted":                   {node("", "True", "8"), "ctl1", "", "delete node gpu1", "--force", ""},
		"a budget keeps it":                      {blocked, "ctl1", "", "drain gpu1", "delete node", "keep the host in the environment"},
		"it is no node":                          {noNode, "ctl1", "", "get -o json node gpu1", "drain", ""},
		"the whole cluster goes, and so be it":   {blocked, "ctl1", "yes", "delete node gpu1", "drain", ""},
		"the control plane is gone":              {silent, "gone", "", "", "drain", ""},
		"the API server is down":                 {silent, "ctl1", "", "", "drain", "refused"},
		"the API server is down, and so be it":   {silent, "ctl1", "yes", "", "drain", ""},
		"the control plane refuses the deployer": {silent, "locked", "", "", "drain", "no login over SSH"},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"kubectl": c.kubectl})
			t.Setenv(hoststep.OverrideVariable, c.override)
			in := s.Input(t, spec, "gpu1", c.plane)
			session, err := in.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			leaving := spec
			leaving.ControlPlanes = []string{c.plane}
			err = leave(t.Context(), in, session, leaving)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if !strings.Contains(s.Asked(), c.asked) || strings.Contains(s.Asked(), c.notAsked) {
				t.Errorf("want %q asked and %q not:\n%s", c.asked, c.notAsked, s.Asked())
			}
		})
	}
}

// TestGPUsIn checks that only lines that name a GPU are counted.
func TestGPUsIn(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)\n": 2,
		"GPU 0: NVIDIA H100 (UUID: GPU-1)\n  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n": 1, "No devices were found\n": 0,
	} {
		if got := gpusIn(text); got != want {
			t.Errorf("%q has %d GPUs, want %d", text, got, want)
		}
	}
}

// TestKubeconfigIsRead checks that a result that is none is an error.
func TestKubeconfigIsRead(t *testing.T) {
	if got, err := ReadKubeconfig(`{"kubeconfig":"apiVersion: v1"}`); err != nil || got != "apiVersion: v1" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := ReadKubeconfig("nothing"); err == nil || errors.Unwrap(err) == nil {
		t.Errorf("error %v", err)
	}
}
