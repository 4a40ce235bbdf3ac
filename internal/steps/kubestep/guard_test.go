package kubestep

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// podsAre is a kubectl whose API server answers, with pods given as JSON objects.
func podsAre(pods ...string) string {
	return fmt.Sprintf(`case "$*" in
*"get -o json pods"*) cat <<'END'
{"items":[%s]}
END
;;
esac`, strings.Join(pods, ","))
}

// silent is one whose API server does not answer.
const silent = `echo "The connection to the server ctl1:6443 was refused" >&2; exit 1`

func pod(namespace, name, phase string) string {
	return fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q},"spec":{"nodeName":"gpu1"},"status":{"phase":%q}}`, namespace, name, phase)
}

// TestGuard checks when a destruction is refused.
func TestGuard(t *testing.T) {
	own := []string{pod("kube-system", "coredns", "Running"), pod("gpucluster-system", "simulated-gpus", "Running"), pod("kueue-system", "manager", "Running")}
	for name, c := range map[string]struct {
		kubectl  string
		planes   []string
		lab      bool
		override string
		want     []string // in the refusal; none: it passes
		log      string   // what it says when it passes
	}{
		"a pod runs": {kubectl: podsAre(append(own, pod("team-a", "train-0", "Running"))...), planes: []string{"ctl1"},
			want: []string{"pods are on the cluster (1)", "team-a/train-0, Running on gpu1", hoststep.OverrideVariable + "=yes"}},
		"a pod waits":                        {kubectl: podsAre(pod("team-a", "train-0", "Pending")), planes: []string{"ctl1"}, want: []string{"on the cluster (1)"}},
		"pods have ended":                    {kubectl: podsAre(pod("team-a", "train-0", "Succeeded"), pod("team-a", "train-1", "Failed")), planes: []string{"ctl1"}},
		"only the cluster's own":             {kubectl: podsAre(own...), planes: []string{"ctl1"}},
		"overridden":                         {kubectl: podsAre(pod("team-a", "train-0", "Running")), planes: []string{"ctl1"}, override: "yes", log: "not waited for"},
		"another word does not override":     {kubectl: podsAre(pod("team-a", "train-0", "Running")), planes: []string{"ctl1"}, override: "true", want: []string{"on the cluster (1)"}},
		"the API server is down":             {kubectl: silent, planes: []string{"ctl1"}, want: []string{"nobody can tell whether pods run", hoststep.OverrideVariable + "=yes"}},
		"a lab's control plane is gone":      {kubectl: silent, planes: []string{"gone"}, lab: true, log: "gone is gone"},
		"a control plane cannot be reached":  {kubectl: podsAre(), planes: []string{"gone"}, want: []string{"gone cannot be asked whether pods run"}},
		"a control plane refuses the login":  {kubectl: podsAre(), planes: []string{"locked"}, want: []string{"locked cannot be asked", "no login over SSH"}},
		"the second control plane answers":   {kubectl: podsAre(pod("team-a", "train-0", "Running")), planes: []string{"gone", "ctl2"}, want: []string{"on the cluster (1)"}},
		"what is no list of pods is refused": {kubectl: "echo '<html>'", planes: []string{"ctl1"}, want: []string{"nobody can tell whether pods run"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"kubectl": c.kubectl, "touch": "exit 0"})
			t.Setenv(hoststep.OverrideVariable, c.override)
			err := removeGuard(t.Context(), s.Input(t, GuardSpec{ControlPlanes: c.planes, Lab: c.lab}, c.planes...))
			if (err != nil) != (c.want != nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the refusal %q does not say %q", err, want)
				}
			}
			if !strings.Contains(s.Log.String(), c.log) {
				t.Errorf("it says %q, want %q", s.Log.String(), c.log)
			}
			// The control planes need not go on without each other any more.
			if marked := strings.Contains(s.Asked(), "touch "+goingFile); marked != (c.want == nil && c.log == "") {
				t.Errorf("the control planes are told that all goes: %v\n%s", marked, s.Asked())
			}
			if strings.Contains(s.Asked(), "delete") || strings.Contains(s.Asked(), "drain") {
				t.Errorf("the guard changes something:\n%s", s.Asked())
			}
		})
	}
}
