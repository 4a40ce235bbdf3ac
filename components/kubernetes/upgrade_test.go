package kubernetes

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

// TestNotUpgradable checks which release can become which, and what is to be
// written where it cannot.
func TestNotUpgradable(t *testing.T) {
	for _, c := range []struct{ was, is, want string }{
		{"v1.36.3", "v1.36.3", ""},
		{"v1.36.3", "v1.36.9", ""},
		{"v1.36.3", "v1.36.10", ""},
		{"v1.36.3", "v1.37.0", ""},
		{"v1.36.3", "v1.36.2", `does not go back; write "1.36"`},
		{"v1.37.0", "v1.36.9", `does not go back; write "1.37"`},
		{"v1.35.9", "v1.37.2", `no minor release can be left out; write "1.36"`},
		{"v1.9.0", "v1.10.0", ""},
		{"", "v1.37.2", "no release"},
	} {
		if got := notUpgradable(c.was, c.is); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s to %s: %q, want %q", c.was, c.is, got, c.want)
		}
	}
}

// TestDescribeUpgrade pins what a preview says.
func TestDescribeUpgrade(t *testing.T) {
	model := config.KubernetesCluster{Version: "v1.37.2", UpgradeAtOnce: 2, EvictionDeadline: "10m"}
	got := describeUpgrade("v1.36.3", model, []string{"ctl1", "ctl2"}, []string{"gpu1", "gpu2"})
	want := `Kubernetes goes from v1.36.3 to v1.37.2, in place:
  ctl1, ctl2, one after the other: upgraded, with etcd; the API server starts again, pods stay
  gpu1, gpu2, then, at most 2 at a time: drained within the budgets of pods, for at most 10m; upgraded; a pod on all GPUs; open again`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
