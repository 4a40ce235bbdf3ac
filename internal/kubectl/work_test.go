package kubectl

import (
	"strings"
	"testing"
)

// TestWork checks which pods hold GPUs: those of people that have not ended.
func TestWork(t *testing.T) {
	pod := func(namespace, name, phase string, limits ...string) string {
		var containers []string
		for _, limit := range limits {
			containers = append(containers, `{"resources":{"limits":{`+limit+`}}}`)
		}
		return `{"metadata":{"namespace":"` + namespace + `","name":"` + name + `"},"spec":{"nodeName":"gpu1","containers":[` + strings.Join(containers, ",") + `]},"status":{"phase":"` + phase + `"}}`
	}
	const two, none = `"nvidia.com/gpu":"2"`, `"cpu":"4"`
	for name, c := range map[string]struct {
		pods []string
		gpus int
		want string
	}{
		"nobody":                {nil, 0, "GPUs in use: 0, by "},
		"a pod":                 {[]string{pod("a", "p", "Running", two)}, 2, "GPUs in use: 2, by a/p"},
		"of several containers": {[]string{pod("a", "p", "Pending", two, none, two)}, 4, "GPUs in use: 4, by a/p"},
		"that ended":            {[]string{pod("a", "p", "Succeeded", two), pod("a", "q", "Failed", two)}, 0, "GPUs in use: 0, by "},
		"without GPUs, or ours": {[]string{pod("a", "p", "Running", none), pod(Namespace, "smoke-gpu1", "Running", two)}, 0, "GPUs in use: 0, by "},
		"many": {[]string{pod("a", "p", "Running", two), pod("a", "q", "Running", two), pod("b", "p", "Running", two), pod("b", "q", "Running", two), pod("b", "r", "Running", two)},
			10, "GPUs in use: 10, by a/p, a/q, b/p, 2 more"},
	} {
		t.Run(name, func(t *testing.T) {
			a := &answers{given: map[string]string{"get -o json pods": `{"items":[` + strings.Join(c.pods, ",") + `]}`}}
			work, err := a.client().Work(t.Context(), "gpu1")
			if err != nil || work.GPUs != c.gpus || work.String() != c.want {
				t.Errorf("got %d, %q, %v, want %d, %q", work.GPUs, work, err, c.gpus, c.want)
			}
			if !a.wasAsked("spec.nodeName=gpu1") {
				t.Errorf("asked %q", a.asked)
			}
		})
	}
	failing := &answers{given: map[string]string{"pods": "!connection refused"}}
	if _, err := failing.client().Work(t.Context(), "gpu1"); err == nil {
		t.Error("an API server that does not answer is a node without work")
	}
}
