package kubestep

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestAstray checks what becomes of a host that has joined and that the cluster
// does not know: a member of the same cluster is not reset.
func TestAstray(t *testing.T) {
	for name, c := range map[string]struct {
		authorities string // what cat prints, by host
		ansible     string
		member      bool
		asked       string
		want        string
	}{
		"its node was deleted":     {`echo one`, "exit 1", true, "systemctl restart kubelet", ""},
		"the cluster began anew":   {`[ $host = gpu1 ] && echo one || echo other`, "exit 0", false, "", ""},
		"and it cannot be reset":   {`[ $host = gpu1 ] && echo one || echo other`, `echo '{"event":"result","host":"gpu1","status":"failed","task":"Reset","message":"busy"}'; exit 2`, false, "", "busy"},
		"nobody knows the cluster": {`[ $host = gpu1 ] && echo one || exit 1`, "exit 0", false, "", "certificate authority"},
		"nobody knows the host's":  {`[ $host = ctl1 ] && echo one || exit 1`, "exit 0", false, "", "gpu1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"cat": c.authorities, "ansible-playbook": c.ansible, "systemctl": "exit 0"})
			in := s.Input(t, spec, "gpu1", "ctl1")
			session, err := in.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			m := &member{spec: spec, session: session, cluster: &kubectl.Client{Runner: session.Runner("ctl1")}, in: in}
			still, err := m.astray(t.Context())
			if still != c.member || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("member %v, error %v, want %v and %q", still, err, c.member, c.want)
			}
			if !strings.Contains(s.Asked(), c.asked) || c.asked == "" && strings.Contains(s.Asked(), "restart") {
				t.Errorf("want %q asked:\n%s", c.asked, s.Asked())
			}
		})
	}
}
