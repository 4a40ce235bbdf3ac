package kubestep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// busy is a kubectl whose node gpu1 has pods that hold so many GPUs, and lets a
// check see so many.
func busy(held, seen int) string {
	return fmt.Sprintf(`case "$*" in
*"get -o json pods"*spec.nodeName=gpu1*) echo '{"items":[{"metadata":{"namespace":"research","name":"train"},"spec":{"containers":[{"resources":{"limits":{"nvidia.com/gpu":"%d"}}}]},"status":{"phase":"Running"}}]}' ;;
*"get -o json pods"*) echo '{"items":[]}' ;;
*"get -o json pod "*) echo '{"status":{"phase":"Succeeded"}}' ;;
*logs*) for n in $(seq %d); do echo "GPU $n: x"; done ;;
*"/version"*) echo '{"gitVersion":"v1.36.3"}' ;;
*"get -o json node gpu1"*) echo '{"metadata":{"name":"gpu1"},"spec":{"taints":[{"key":"gpucluster/validating"}]},"status":{"allocatable":{"nvidia.com/gpu":"8"},"nodeInfo":{"kubeletVersion":"v1.36.3"},"conditions":[{"type":"Ready","status":"True"}]}}' ;;
esac`, held, seen)
}

// TestSmoke checks that a host at work is proof enough: people's pods do not make
// the update fail.
func TestSmoke(t *testing.T) {
	for name, c := range map[string]struct {
		held, seen int
		want       step.Status
		says       string
		asked      bool
	}{
		"idle":           {0, 8, step.StatusReady, "gpu1 saw 8 GPUs; gpu2 saw 8 GPUs", true},
		"at work":        {3, 8, step.StatusReady, "gpu1 is at work: GPUs in use: 3, by research/train; gpu2 saw 8 GPUs", false},
		"sees too few":   {0, 7, step.StatusQuarantined, "a pod that asked for 8 GPUs on gpu1 sees 7", true},
		"wholly at work": {8, 8, step.StatusReady, "gpu1 is at work: GPUs in use: 8, by research/train; gpu2 saw 8 GPUs", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"kubectl": busy(c.held, c.seen)})
			result, err := applySmoke(t.Context(), s.Input(t, SmokeSpec{ControlPlanes: []string{"ctl1"}, Hosts: map[string]int{"gpu1": 8, "gpu2": 8}, CheckImage: "x"}, "ctl1"))
			outcome, _ := result.(step.Outcome)
			if err != nil || outcome.Status != c.want || !strings.Contains(fmt.Sprintf("%+v", outcome), c.says) {
				t.Errorf("got %+v, %v, want %s with %q", result, err, c.want, c.says)
			}
			if asked := strings.Contains(s.Asked(), "delete pod -n gpucluster-system smoke-gpu1"); asked != c.asked {
				t.Errorf("a pod was started on gpu1: %v", asked)
			}
		})
	}
}

// TestValidateBesideWork checks a closed host whose kubelet was down while pods
// ran on: what they leave is validated.
func TestValidateBesideWork(t *testing.T) {
	for name, c := range map[string]struct {
		held, seen, shared int
		want               string // the detail, or in the error
		fails              bool
	}{
		"idle":                    {0, 8, 0, "validation pod passed on 8 GPUs", false},
		"some are in use":         {3, 5, 0, "validation pod passed on 5 GPUs; GPUs in use: 3, by research/train", false},
		"all are":                 {8, 0, 0, "not validated anew: GPUs in use: 8, by research/train", false},
		"one is broken":           {3, 4, 0, "a pod that asked for 5 GPUs sees 4", true},
		"shared, and idle":        {0, 1, 2, "a pod that asked for 8 GPUs sees 1", true},
		"shared, and some in use": {3, 1, 2, "validation pod passed on 5 GPUs; GPUs in use: 3, by research/train", false},
		"shared, none is seen":    {3, 0, 2, "a pod that asked for 5 GPUs sees 0", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"kubectl": busy(c.held, c.seen), "ansible-playbook": ":"})
			wanted := spec
			wanted.Seen = c.shared
			in := s.Input(t, wanted, "gpu1", "ctl1")
			session, err := in.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			m := member{spec: wanted, session: session, cluster: on(in, session, "ctl1"), in: in}
			detail, err := m.validate(t.Context())
			if got := fmt.Sprint(detail, err); (err != nil) != c.fails || !strings.Contains(got, c.want) {
				t.Errorf("got %q, %v, want %q", detail, err, c.want)
			}
		})
	}
}
