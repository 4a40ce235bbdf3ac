package kubeplugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/jobset"
	"github.com/gpucluster/pulumi-gpucluster/components/kueue"
	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/kuberesource"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
	"github.com/gpucluster/pulumi-gpucluster/internal/pulumitest"
)

// whole is a program with all that the queues of an environment and JobSet have in a
// cluster: two charts with definitions, objects of kinds that nobody has defined yet,
// and a definition by itself.
func whole(t *testing.T, kubeconfig string) pulumi.RunFunc {
	t.Helper()
	env := pulumitest.Load(t, filepath.Join("..", "..", "components", "kueue", "testdata", "Pulumi.teams.yaml"))
	env.Kubernetes.JobSet = true
	charts := pulumi.String(filepath.Join(artifacts.DefaultStore(), artifacts.Current, "charts"))
	return func(ctx *pulumi.Context) error {
		api, err := provider(ctx, kubeconfig, patient)
		if err != nil {
			return err
		}
		if _, err := kueue.NewQueues(ctx, "q", &kueue.QueuesArgs{Environment: env, Kubeconfig: pulumi.String(kubeconfig), Provider: api, Charts: charts}); err != nil {
			return err
		}
		if _, err := jobset.NewJobSet(ctx, "j", &jobset.JobSetArgs{Environment: env, Kubeconfig: pulumi.String(kubeconfig), Provider: api, Charts: charts}); err != nil {
			return err
		}
		_, err = kuberesource.NewObject(ctx, "defined", definition, pulumi.Provider(api))
		return err
	}
}

var definition = map[string]any{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": "things.example.org"},
	"spec": map[string]any{"group": "example.org", "scope": "Cluster", "names": map[string]any{"kind": "Thing", "plural": "things"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}}},
}

// namespaces is a program with namespaces. What goes with the cluster is not deleted
// by itself.
func namespaces(kubeconfig string, limit int, goes bool, names ...string) pulumi.RunFunc {
	return func(ctx *pulumi.Context) error {
		api, err := provider(ctx, kubeconfig, limit)
		if err != nil {
			return err
		}
		options := []pulumi.ResourceOption{pulumi.Provider(api)}
		if goes {
			options = append(options, pulumi.DeletedWith(api))
		}
		for _, name := range names {
			if _, err := kuberesource.NewObject(ctx, name, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}, options...); err != nil {
				return err
			}
		}
		return nil
	}
}

// chart is a program with a chart that wants a release of Kubernetes.
func chart(t *testing.T, kubeconfig, wants string) pulumi.RunFunc {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	var problems []error
	for name, text := range map[string]string{
		"c/Chart.yaml":         fmt.Sprintf("apiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: %q\n", wants),
		"c/templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
	} {
		problems = append(problems, archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}))
		_, err := archive.Write([]byte(text))
		problems = append(problems, err)
	}
	folder := t.TempDir()
	problems = append(problems, archive.Close(), packed.Close(), os.WriteFile(filepath.Join(folder, "c-1.0.0.tgz"), out.Bytes(), 0o600))
	if err := errors.Join(problems...); err != nil {
		t.Fatal(err)
	}
	return func(ctx *pulumi.Context) error {
		api, err := provider(ctx, kubeconfig, patient)
		if err != nil {
			return err
		}
		_, err = kuberesource.NewRelease(ctx, "c", kuberesource.Release{
			Chart:   kuberesource.Chart(pulumi.String(folder), pulumi.String(""), "c", "1.0.0"),
			Version: "1.0.0", Name: "c", Namespace: "default", Limit: 60,
		}, pulumi.Provider(api))
		return err
	}
}

// at is the kubeconfig of an API server at an address.
func at(address string) string {
	return `{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: k, user: u}}],
		clusters: [{name: k, cluster: {server: "https://` + address + `"}}], users: [{name: u, user: {token: t}}]}`
}

// TestCases has the plugin meet a cluster that is empty, one that is lost later, and
// what is none.
func TestCases(t *testing.T) {
	needTools(t)
	api := kubetest.Start(t, kubetest.Record)
	text, err := os.ReadFile(api.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := string(text)
	// A preview plans all at once: definitions, and objects of their kinds, of which the
	// cluster knows nothing.
	t.Run("TestCaseK02", func(t *testing.T) {
		s := newStack(t, whole(t, kubeconfig))
		out, err := s.preview()
		if err != nil || !strings.Contains(out, "q-clusterqueue-research create") || !strings.Contains(out, "defined create") || !strings.Contains(out, "j-release create") {
			t.Errorf("%v\n%s", err, out)
		}
		t.Run("TestCaseK04", func(t *testing.T) {
			if changes := api.Changes(t); len(changes) > 0 {
				t.Errorf("a preview has changed something: %q", changes)
			}
		})
	})
	t.Run("TestCaseK06", func(t *testing.T) { caseK06(t, kubeconfig) })
	t.Run("TestCaseK07", caseK07)
	t.Run("TestCaseK08", func(t *testing.T) { caseK08(t, api, kubeconfig) })
}

// caseK06 has a chart that wants a release of Kubernetes, and a cluster that cannot be
// reached: that is what is told, not what Helm takes for its release.
func caseK06(t *testing.T, kubeconfig string) {
	const wrong = "kubeVersion: >=99.0.0"
	s := newStack(t, chart(t, kubeconfig, ">=99.0.0"))
	if out, err := s.up(); err == nil || !strings.Contains(out, wrong) {
		t.Errorf("a chart for another release: %v\n%s", err, out)
	}
	s = newStack(t, chart(t, at("127.0.0.1:1"), ">=1.34.0"))
	if out, err := s.up(); err == nil || !strings.Contains(out, "with unreachable cluster: ") || strings.Contains(out, "kubeVersion") {
		t.Errorf("a cluster that is away: %v\n%s", err, out)
	}
}

// caseK07 has an API server that takes connections and says nothing: it is asked once
// for all objects, not once for each.
func caseK07(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var asked atomic.Int32
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			defer c.Close()
		}
	}()
	names := make([]string, 30)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i)
	}
	s := newStack(t, namespaces(at(silent.Addr().String()), 2, true, names...))
	if out, err := s.preview(); err != nil || asked.Load() == 0 || asked.Load() > 5 {
		t.Errorf("%d objects have the server asked %d times, %v\n%s", len(names), asked.Load(), err, out)
	}
}

// caseK08 loses a cluster. Nothing of it is forgotten, unless the cluster goes too.
func caseK08(t *testing.T, api *kubetest.API, kubeconfig string) {
	goes, stays := newStack(t, namespaces(kubeconfig, patient, true, "goes")), newStack(t, namespaces(kubeconfig, patient, false, "stays"))
	for _, s := range []*stack{goes, stays} {
		if out, err := s.up(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	api.Stop()
	if out, err := goes.refresh(); err == nil || !strings.Contains(out, "unreachable cluster") || !goes.holds("goes") {
		t.Errorf("refresh without the cluster: %v\n%s", err, out)
	}
	if out, err := stays.destroy(); err == nil || !strings.Contains(out, "unreachable") || !stays.holds("stays") {
		t.Errorf("destroy without the cluster, which stays: %v\n%s", err, out)
	}
	if out, err := goes.destroy(); err != nil || goes.holds("goes") {
		t.Errorf("destroy with the cluster: %v\n%s", err, out)
	}
}
