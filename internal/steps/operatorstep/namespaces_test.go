package operatorstep

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// caseK19 has namespaces that somebody made before: they are not taken over, unless
// they were given to us.
func caseK19(t *testing.T, api *kubetest.API, kubeconfig string) {
	for _, object := range []string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: theirs}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: helms, labels: {app.kubernetes.io/managed-by: Helm}}}",
		"{apiVersion: v1, kind: Namespace, metadata: {name: ours, labels: {app.kubernetes.io/managed-by: gpucluster}}}",
	} {
		if _, err := api.Create(t.Context(), []byte(object)); err != nil {
			t.Fatal(err)
		}
	}
	const give = "kubectl label namespace theirs app.kubernetes.io/managed-by=gpucluster"
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"free":      {[]string{"free", "free-too"}, ""},
		"ours":      {[]string{"free", "ours"}, ""},
		"theirs":    {[]string{"free", "theirs", "ours"}, "not ours, and left alone: namespace theirs: take another name, or give it to the toolkit, which will also delete it: " + give},
		"a chart's": {[]string{"theirs", "helms"}, "namespace theirs, helms: "},
	} {
		in, _ := input(t, NamespacesSpec{Names: c.names}, kubeconfig, "")
		if _, err := namespaces(t.Context(), in); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := api.Kubectl(t, strings.Fields(give)[1:]...); err != nil {
		t.Fatal(err)
	}
	in, _ := input(t, NamespacesSpec{Names: []string{"theirs"}}, kubeconfig, "")
	if _, err := namespaces(t.Context(), in); err != nil {
		t.Errorf("what was given to us: %v", err)
	}
}
