package podstate

import (
	"fmt"
	"strings"
	"testing"
)

// pod is one of namespace n on gpu1, with more of its status.
func pod(name, phase, more string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":"n","name":%q},"spec":{"nodeName":"gpu1"},"status":{"phase":%q%s}}`, name, phase, more)
}

func event(kind, pod, time, message string) string {
	return fmt.Sprintf(`{"type":%q,"reason":"Failed","message":%q,"lastTimestamp":%q,"involvedObject":{"kind":"Pod","namespace":"n","name":%q}}`, kind, message, time, pod)
}

func list(items ...string) []byte { return []byte(`{"items":[` + strings.Join(items, ",") + `]}`) }

const creating = `,"containerStatuses":[{"state":{"waiting":{"reason":"ContainerCreating"}}}]`

func TestTroubles(t *testing.T) {
	crowd := make([]string, 7)
	for i := range crowd {
		crowd[i] = pod(fmt.Sprint("p", i), "Pending", "")
	}
	for name, c := range map[string]struct {
		pods, events []byte
		want         string
	}{
		"none":     {list(), list(), ""},
		"all work": {list(pod("a", "Running", `,"conditions":[{"type":"Ready","status":"True"}]`), pod("b", "Succeeded", "")), list(event("Warning", "a", "1", "earlier")), ""},
		"the kubelet's word": {list(pod("a", "Pending", creating)), list(event("Warning", "a", "2026-01-01T00:00:02Z", "no such file"), event("Warning", "a", "2026-01-01T00:00:01Z", "earlier"), event("Normal", "a", "2026-01-01T00:00:03Z", "pulled")),
			"n/a on gpu1 is Pending: ContainerCreating; Failed: no such file"},
		"before the others": {list(pod("a", "Pending", `,"initContainerStatuses":[{"state":{"waiting":{"reason":"ImagePullBackOff","message":"no image"}}}]`)), list(), "n/a on gpu1 is Pending: ImagePullBackOff: no image"},
		"said twice":        {list(pod("a", "Failed", `,"reason":"Failed","message":"evicted"`)), list(event("Warning", "a", "", "evicted")), "n/a on gpu1 is Failed: Failed: evicted"},
		"another's warning": {list(pod("a", "Pending", creating)), list(event("Warning", "b", "", "no")), "n/a on gpu1 is Pending: ContainerCreating"},
		"lines become one":  {list(pod("a", "Pending", "")), list(event("Warning", "a", "", "one\n  two")), "n/a on gpu1 is Pending: Failed: one two"},
		"long":              {list(pod("a", "Pending", "")), list(event("Warning", "a", "", strings.Repeat("é", 500))), "n/a on gpu1 is Pending: Failed: " + strings.Repeat("é", 400) + "…"},
		"many":              {list(crowd...), list(), "n/p0 on gpu1 is Pending\nn/p1 on gpu1 is Pending\nn/p2 on gpu1 is Pending\nn/p3 on gpu1 is Pending\nn/p4 on gpu1 is Pending\nand 2 more"},
	} {
		if got, err := Troubles(c.pods, c.events); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	for what, lists := range map[string][2][]byte{"reading pods": {[]byte("<html>"), list()}, "reading events": {list(), []byte("<html>")}} {
		if _, err := Troubles(lists[0], lists[1]); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// FuzzTroubles checks that whatever a cluster says is told on as many lines as are
// meant.
func FuzzTroubles(f *testing.F) {
	f.Add(list(pod("a", "Pending", creating)), list(event("Warning", "a", "1", "x\ny")))
	f.Fuzz(func(t *testing.T, pods, events []byte) {
		if text, err := Troubles(pods, events); err == nil && strings.Count(text, "\n") > mostPods {
			t.Errorf("%q", text)
		}
	})
}
