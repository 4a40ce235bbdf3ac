package helmchart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func definition(name string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: " + name + "\n"
}

// archive is a chart with files.
func archive(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for name, text := range files {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for _, close := range []func() error{w.Close, packed.Close} {
		if err := close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// TestDefinitions checks which files of a chart count, and that nothing else is
// passed off as a definition.
func TestDefinitions(t *testing.T) {
	whole := map[string]string{
		"c/crds/b.yaml":             definition("b.example.org") + "---\n---\n" + definition("a.example.org"),
		"c/crds/readme.md":          "no definition",
		"c/crds/deeper/x.yaml":      "not: looked at",
		"c/templates/crd.yaml":      "{{ not even YAML",
		"c/charts/used/crds/c.yml":  definition("c.example.org"),
		"c/charts/other/crds/d.yml": definition("d.example.org"),
	}
	for name, c := range map[string]struct {
		files map[string]string
		parts []string
		want  []string
		fails string
	}{
		"the chart's own":   {whole, nil, []string{"a.example.org", "b.example.org"}, ""},
		"and those of part": {whole, []string{"used"}, []string{"a.example.org", "b.example.org", "c.example.org"}, ""},
		"none":              {map[string]string{"c/Chart.yaml": "name: c"}, nil, nil, "no custom resource definitions"},
		"none of a part":    {whole, []string{"used", "packed"}, nil, "no custom resource definitions of its part packed"},
		"another kind":      {map[string]string{"c/crds/a.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}"}, nil, nil, "is no custom resource definition"},
		"no YAML":           {map[string]string{"c/crds/a.yaml": "a: [\n"}, nil, nil, "reading c/crds/a.yaml"},
	} {
		all, err := Definitions(archive(t, c.files), c.parts...)
		var got []string
		for _, d := range all {
			got = append(got, d.Name)
		}
		if !slices.Equal(got, c.want) || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := Definitions([]byte("no archive")); err == nil {
		t.Error("what is no archive is read")
	}
}

// FuzzDefinitions checks that no archive makes a definition without a name.
func FuzzDefinitions(f *testing.F) {
	f.Add(archive(f, map[string]string{"c/crds/a.yaml": definition("a.example.org")}))
	f.Fuzz(func(t *testing.T, chart []byte) {
		all, err := Definitions(chart)
		if err == nil && len(all) == 0 {
			t.Error("none, and no error")
		}
		for _, d := range all {
			if d.Name == "" || len(d.Object) == 0 {
				t.Errorf("%+v", d)
			}
		}
	})
}

// TestFetch checks each place that a chart can be in.
func TestFetch(t *testing.T) {
	const chart = "the chart"
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "c-v1.2.3.tgz"), []byte(chart), 0o600); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/repository/index.yaml":
			fmt.Fprint(w, "entries: {c: [{version: v2.0.0, urls: [other.tgz]}, {version: v1.2.3, urls: [charts/c-v1.2.3.tgz]}], e: [{version: v1.2.3}]}")
		case "/site/c-v1.2.3.tgz", "/repository/charts/c-v1.2.3.tgz":
			fmt.Fprint(w, chart)
		case "/broken/index.yaml":
			fmt.Fprint(w, "entries: [")
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	for name, c := range map[string]struct {
		source Source
		fails  string
	}{
		"a folder":               {Source{Place: folder + "/"}, ""},
		"a URL":                  {Source{Place: server.URL + "/site"}, ""},
		"its makers' repository": {Source{Repository: server.URL + "/repository/"}, ""},
		"an empty folder":        {Source{Place: t.TempDir()}, "no such file"},
		"an empty URL":           {Source{Place: server.URL + "/none"}, "answers 404"},
		"no repository":          {Source{Repository: server.URL + "/none"}, "answers 404"},
		"a broken repository":    {Source{Repository: server.URL + "/broken"}, "reading " + server.URL + "/broken/index.yaml"},
		"no such version":        {Source{Repository: server.URL + "/repository", Version: "v3.0.0"}, "does not have it"},
		"a version without file": {Source{Repository: server.URL + "/repository", Name: "e"}, "does not have it"},
		"a registry of no path":  {Source{Place: "oci:///"}, "fetching the chart c v1.2.3"},
	} {
		if c.source.Name == "" {
			c.source.Name = "c"
		}
		if c.source.Version == "" {
			c.source.Version = "v1.2.3"
		}
		got, err := Fetch(t.Context(), c.source)
		if (err == nil) != (c.fails == "") || err == nil && string(got) != chart || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestRegistry checks that a chart is read from a registry that wants a token of
// everybody, and that a layer that is not what its digest says is refused.
func TestRegistry(t *testing.T) {
	const chart = "the chart"
	sum := sha256.Sum256([]byte(chart))
	digest := "sha256:" + hex.EncodeToString(sum[:])
	wrong := "sha256:" + strings.Repeat("0", 64)
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token":
			fmt.Fprintf(w, `{"token":%q}`, r.URL.Query().Get("scope"))
		case r.Header.Get("Authorization") != "Bearer pull":
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+server.URL+`/token",service="s",scope="pull"`)
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/v2/charts/c/manifests/1.2.3_4":
			fmt.Fprintf(w, `{"layers":[{"mediaType":"text/plain","digest":"x"},{"mediaType":%q,"digest":%q}]}`, chartType, digest)
		case r.URL.Path == "/v2/charts/w/manifests/1":
			fmt.Fprintf(w, `{"layers":[{"mediaType":%q,"digest":%q}]}`, chartType, wrong)
		case r.URL.Path == "/v2/charts/image/manifests/1":
			fmt.Fprint(w, `{"layers":[]}`)
		case strings.HasPrefix(r.URL.Path, "/v2/charts/c/blobs/") || strings.HasPrefix(r.URL.Path, "/v2/charts/w/blobs/"):
			fmt.Fprint(w, chart)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	for reference, c := range map[string]struct{ version, fails string }{
		"charts/c":     {"1.2.3+4", ""},
		"charts/w":     {"1", "not what its digest says"},
		"charts/image": {"1", "is no chart"},
		"charts/none":  {"1", "answers 404"},
	} {
		got, err := fromRegistry(t.Context(), "http://", host+"/"+reference, c.version)
		if (err == nil) != (c.fails == "") || err == nil && string(got) != chart || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %q, %v", reference, got, err)
		}
	}
}
