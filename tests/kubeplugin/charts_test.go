package kubeplugin

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
)

// templates are those of a chart of the store, by their paths.
func templates(t *testing.T, name string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(artifacts.DefaultStore(), artifacts.Current, "charts", name+"-*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		if os.Getenv(labtest.RequireVariable) == "required" {
			t.Fatalf("the store has no chart %s", name)
		}
		t.Skipf("needs the chart %s, which make tools ENV=lab-kubernetes makes", name)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	packed, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for archive := tar.NewReader(packed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(header.Name, name+"/templates/") {
			text, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			all[header.Name] = string(text)
		}
	}
}

// lacks checks that no template of the charts whose pods Helm waits for has something.
func lacks(t *testing.T, what string) {
	t.Helper()
	for _, name := range []string{"kueue", "jobset"} {
		all := templates(t, name)
		if len(all) < 10 {
			t.Errorf("%s has %d templates", name, len(all))
		}
		for path, text := range all {
			if at := regexp.MustCompile(what).FindString(text); at != "" {
				t.Errorf("%s has %q", path, at)
			}
		}
	}
}

// TestCaseK14 checks that nothing is waited for that a hook would have to do after it:
// the charts whose pods Helm waits for have no hooks.
func TestCaseK14(t *testing.T) { lacks(t, `helm\.sh/hook"?:.*post-`) }

// TestCaseK15 checks that no chart has a Job of its own, which cannot change when the
// chart does.
func TestCaseK15(t *testing.T) { lacks(t, `(?m)^kind: *Job$`) }
