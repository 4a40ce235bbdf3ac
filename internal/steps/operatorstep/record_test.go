package operatorstep

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// releaseCutOff has Helm's records of releases in every state in which a run may have
// been cut off.
func releaseCutOff(t *testing.T, api *kubetest.API, kubeconfig string) {
	const ours, theirs = `{"ours":true,"repairs":"0"}`, `{"ours":false,"repairs":"0"}`
	for name, c := range map[string]struct {
		statuses         []string
		previous, repair string
		want             RecordResult
		// left are the revisions that stay, and probed what is wrong before.
		left, probed string
	}{
		"nothing yet":            {nil, "", "0", RecordResult{true, "0"}, "", ""},
		"somebody else's":        {[]string{"deployed"}, "", "0", RecordResult{false, "0"}, "1", ""},
		"still somebody else's":  {[]string{"deployed"}, theirs, "1", RecordResult{false, "1"}, "1", ""},
		"theirs went":            {nil, theirs, "1", RecordResult{true, "1"}, "", ""},
		"installed unknown":      {[]string{"deployed"}, ours, "1", RecordResult{true, "1"}, "", ""},
		"failed unknown":         {[]string{"failed"}, ours, "1", RecordResult{true, "1"}, "", ""},
		"cut off at its begin":   {[]string{"pending-install"}, ours, "1", RecordResult{true, "1"}, "", "(pending-install)"},
		"cut off at an upgrade":  {[]string{"deployed", "pending-upgrade"}, ours, "1", RecordResult{true, "1"}, "1", "(pending-upgrade)"},
		"another kubeconfig":     {[]string{"deployed"}, ours, "0", RecordResult{true, "0"}, "1", ""},
		"nothing of it was left": {nil, ours, "1", RecordResult{true, "1"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := "release-" + strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), "'", "")
			objects := []string{fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespace),
				// Of another release, which is never touched.
				secretOf(namespace, "other", 1, "pending-install")}
			for i, status := range c.statuses {
				objects = append(objects, secretOf(namespace, "kueue", i+1, status))
			}
			for _, object := range objects {
				if _, err := api.Create(t.Context(), []byte(object)); err != nil {
					t.Fatal(err)
				}
			}
			spec, err := json.Marshal(RecordSpec{Namespace: namespace, Release: "kueue"})
			if err != nil {
				t.Fatal(err)
			}
			in := step.NewInput(spec, func(entry string) string {
				return map[string]string{step.EnvSecretPrefix + SecretKubeconfig: kubeconfig, step.EnvPrevious: c.previous, step.EnvHeal: c.repair}[entry]
			}, &strings.Builder{})
			if err := probeRecord(t.Context(), in); (err == nil) != (c.probed == "") || err != nil && !strings.Contains(err.Error(), c.probed) {
				t.Errorf("the probe says %v, want %q", err, c.probed)
			}
			if result, err := record(t.Context(), in); err != nil || result != c.want {
				t.Errorf("%v, %v, want %v", result, err, c.want)
			}
			left, err := api.Kubectl(t, "get", "secrets", "-n", namespace, "-l", "owner=helm", "-o", "jsonpath={.items[*].metadata.name}")
			want := strings.TrimSpace("sh.helm.release.v1.kueue.v" + c.left + " sh.helm.release.v1.other.v1")
			if c.left == "" {
				want = "sh.helm.release.v1.other.v1"
			}
			if err != nil || string(left) != want {
				t.Errorf("left are %s, %v, want %s", left, err, want)
			}
		})
	}
}

// secretOf is the secret in which Helm keeps a revision.
func secretOf(namespace, release string, number int, status string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","type":"helm.sh/release.v1","metadata":{"namespace":%q,"name":"sh.helm.release.v1.%[2]s.v%[3]d",
		"labels":{"owner":"helm","name":%[2]q,"status":%[4]q,"version":"%[3]d"}}}`, namespace, release, number, status)
}
