package kubestep

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// released is a kubectl whose node gpu1 has a kubelet of a release that a file
// names, as the playbook leaves it, and whose API server is of another.
func released(folder, api, annotations, drain string) string {
	return fmt.Sprintf(`case "$*" in
*"/version"*) echo '{"gitVersion":"%[2]s"}' ;;
*drain*) %[4]s ;;
*"get -o json pods"*) echo '{"items":[{"metadata":{"namespace":"shop","name":"web"},"status":{"phase":"Running"}}]}' ;;
*"get -o json pod "*) echo '{"status":{"phase":"Succeeded"}}' ;;
*logs*) for n in 0 1 2 3 4 5 6 7; do echo "GPU $n: x"; done ;;
*"get -o json node gpu1"*) echo '{"metadata":{"name":"gpu1","annotations":{%[3]s}},"status":{"allocatable":{"nvidia.com/gpu":"8"},"nodeInfo":{"kubeletVersion":"'"$(cat %[1]s/release)"'"},"conditions":[{"type":"Ready","status":"True"}]}}' ;;
esac`, folder, api, annotations, drain)
}

// TestUpgradeOfAWorker checks the order: the API server is asked, the host is
// emptied and closed, then the playbooks run, then a pod, then it opens; and what
// stops it with the host left as it was, or closed.
func TestUpgradeOfAWorker(t *testing.T) {
	const marked, fails = `"gpucluster/cordoned":"yes"`, `echo '{"event":"result","host":"gpu1","status":"failed","task":"Have the release","message":"no disk"}'; exit 2`
	const budget = `echo "error when evicting pods/web: it would violate the pod's disruption budget" >&2; exit 1`
	for name, c := range map[string]struct {
		was, api, annotations, drain, ansible string
		asked                                 []string // in this order
		not                                   []string
		want                                  string // in the error
	}{
		"upgraded":                      {was: "v1.36.3", api: "v1.37.2", asked: []string{"/version", "gpucluster/cordoned=yes", "drain gpu1", "gpucluster/validating=:NoSchedule", "create -f", "gpucluster/validating-"}},
		"the control planes are behind": {was: "v1.36.3", api: "v1.36.3", not: []string{"drain", "validating"}, want: "no kubelet may be newer"},
		"a budget keeps a pod": {was: "v1.36.3", api: "v1.37.2", drain: budget, asked: []string{"drain gpu1", "uncordon gpu1"}, not: []string{"validating"},
			want: "until then the host stays as it is"},
		"it fails on the host": {was: "v1.36.3", api: "v1.37.2", ansible: fails, asked: []string{"drain gpu1", "validating=:NoSchedule"}, not: []string{"uncordon", "validating-"},
			want: "no further worker is upgraded"},
		"cut off after the kubelet": {was: "v1.37.2", api: "v1.37.2", annotations: marked, asked: []string{"validating=:NoSchedule", "create -f", "uncordon gpu1", "gpucluster/cordoned-", "validating-"}, not: []string{"drain"}},
		"fails again":               {was: "v1.37.2", api: "v1.37.2", annotations: marked, ansible: fails, not: []string{"uncordon", "validating-"}, want: "no further worker is upgraded"},
		"has the release":           {was: "v1.37.2", api: "v1.37.2", not: []string{"drain", "validating", "create -f"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if c.ansible == "" {
				c.ansible = "echo v1.37.2 >" + folder + "/release"
			}
			if c.drain == "" {
				c.drain = ":"
			}
			s := steptest.New(t, map[string]string{"ansible-playbook": c.ansible, "kubectl": released(folder, c.api, c.annotations, c.drain),
				"kubeadm": "echo abcdef.0123456789abcdef", "cat": `case $1 in */pki/ca.crt) echo x ;; *) exec /bin/cat "$@" ;; esac`})
			if err := os.WriteFile(filepath.Join(folder, "release"), []byte(c.was), 0o644); err != nil {
				t.Fatal(err)
			}
			wanted := spec
			wanted.Version, wanted.Vars = "v1.37.2", map[string]any{"kubernetes_worker_cluster": "env", "kubernetes_worker_version": "v1.37.2"}
			result, err := applyMember(t.Context(), s.Input(t, wanted, "gpu1", "ctl1"))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("result %+v, error %v, want %q", result, err, c.want)
			}
			if outcome, ok := result.(step.Outcome); err == nil && (!ok || outcome.Status != step.StatusReady) {
				t.Errorf("result %+v", result)
			}
			rest := s.Asked()
			for _, words := range c.asked {
				_, after, found := strings.Cut(rest, words)
				if !found {
					t.Fatalf("%q is not asked, or too early:\n%s", words, s.Asked())
				}
				rest = after
			}
			for _, words := range c.not {
				if strings.Contains(s.Asked(), words) {
					t.Errorf("%q is asked:\n%s", words, s.Asked())
				}
			}
		})
	}
}
