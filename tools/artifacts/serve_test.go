package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// served is the store of a workshop behind a server, and the server's address.
func served(t *testing.T, w *workshop) string {
	t.Helper()
	server := httptest.NewServer(newHandler(w.store))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// pull gets an image as a client of a registry does, and checks each of its digests.
func pull(t *testing.T, reference string) v1.Image {
	t.Helper()
	ref, err := name.ParseReference(reference, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(image); err != nil {
		t.Errorf("%s: %v", reference, err)
	}
	return image
}

// TestClientsPull lets the library that crane is made of pull what is served.
func TestClientsPull(t *testing.T) {
	w := newWorkshop(t, small)
	w.run(t)
	address := served(t, w)
	server, proxy := pull(t, address+"/kube-apiserver:v1"), pull(t, address+"/kube-proxy:v1")
	digest, err := server.Digest()
	if err != nil {
		t.Fatal(err)
	}
	pull(t, address+"/kube-apiserver@"+digest.String())
	one, two := layers(t, server), layers(t, proxy)
	if len(one) != 2 || strings.Join(one, " ") != strings.Join(two, " ") {
		t.Errorf("the layers are %q and %q", one, two)
	}
	config, err := pull(t, address+"/some/etcd:2").ConfigFile()
	if err != nil || config.Config.User != "65532:65532" || config.OS != "linux" {
		t.Errorf("the configuration is %+v, %v", config, err)
	}
	repository, err := name.NewRepository(address+"/some/etcd", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if tags, err := remote.List(repository); err != nil || strings.Join(tags, " ") != "2" {
		t.Errorf("the tags are %q, %v", tags, err)
	}
	tag, err := name.NewTag(address+"/kube-apiserver:mine", name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(tag, server); err == nil {
		t.Error("an image can be pushed")
	}
}

func layers(t *testing.T, image v1.Image) []string {
	t.Helper()
	list, err := image.Layers()
	if err != nil {
		t.Fatal(err)
	}
	var digests []string
	for _, l := range list {
		d, err := l.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, d.String())
	}
	return digests
}

// TestAnswers checks single requests.
func TestAnswers(t *testing.T) {
	w := newWorkshop(t, small)
	w.run(t)
	address := "http://" + served(t, w)
	if err := os.WriteFile(filepath.Join(w.store, "secret"), []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, path, header, value string
		status                      int
		want                        string
	}{
		"version":               {"GET", "/v2/", "", "", 200, "{}"},
		"health":                {"GET", "/healthz", "", "", 200, "ok"},
		"manifest":              {"GET", "/v2/kube-proxy/manifests/v1", "", "", 200, "application/vnd.oci.image.manifest.v1+json"},
		"manifest of a mirror":  {"GET", "/v2/kube-proxy/manifests/v1?ns=registry.k8s.io", "", "", 200, "schemaVersion"},
		"only its head":         {"HEAD", "/v2/kube-proxy/manifests/v1", "", "", 200, ""},
		"unknown tag":           {"GET", "/v2/kube-proxy/manifests/v2", "", "", 404, "MANIFEST_UNKNOWN"},
		"another's digest":      {"GET", "/v2/kube-proxy/manifests/sha256:" + strings.Repeat("0", 64), "", "", 404, "MANIFEST_UNKNOWN"},
		"unknown repository":    {"GET", "/v2/nothing/tags/list", "", "", 404, "NAME_UNKNOWN"},
		"unknown blob":          {"GET", "/v2/kube-proxy/blobs/sha256:" + strings.Repeat("0", 64), "", "", 404, "BLOB_UNKNOWN"},
		"a path for a digest":   {"GET", "/v2/kube-proxy/blobs/..%2f..%2findex.json", "", "", 404, "UNKNOWN"},
		"start of a push":       {"POST", "/v2/kube-proxy/blobs/uploads/", "", "", 405, "UNSUPPORTED"},
		"removal":               {"DELETE", "/v2/kube-proxy/manifests/v1", "", "", 405, "UNSUPPORTED"},
		"binary":                {"GET", "/binaries/v1/kubelet", "", "", 200, "the program hyper"},
		"a part of it":          {"GET", "/binaries/v1/kubelet", "Range", "bytes=4-10", 206, "program"},
		"sums":                  {"GET", "/binaries/v1/SHA256SUMS", "", "", 200, "  kubeadm\n"},
		"charts":                {"GET", "/charts/", "", "", 200, ""},
		"what is no artifact":   {"GET", "/secret", "", "", 404, ""},
		"nor one by a long way": {"GET", "/binaries/../../secret", "", "", 404, ""},
	} {
		t.Run(name, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), c.method, address+c.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if c.header != "" {
				request.Header.Set(c.header, c.value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != c.status || !strings.Contains(string(body), c.want) {
				t.Errorf("it answers %d %v: %s", response.StatusCode, err, body)
			}
		})
	}

	// Without its store it says so.
	if err := os.Remove(filepath.Join(w.store, artifacts.Current)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": 503, "/v2/kube-proxy/manifests/v1": 404, "/binaries/v1/kubelet": 404} {
		response, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s without a store: it answers %s", path, response.Status)
		}
	}
}

// TestOtherCheckoutsMayChangeTheStore lets another table become current under a
// server: what only the first one has still is served.
func TestOtherCheckoutsMayChangeTheStore(t *testing.T) {
	w := newWorkshop(t, small)
	_, first := w.run(t)
	address := served(t, w)
	digest, err := pull(t, address+"/some/etcd:2").Digest()
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(w.store, first), old, old); err != nil {
		t.Fatal(err)
	}

	w.table.Images = slices.Clone(small.Images[:2])
	w.table.Images[0].Entrypoint = []string{"another"}
	w.table.Binaries = small.Binaries[:1]
	if _, second := w.run(t); second == first {
		t.Fatal("another table makes the same version")
	}
	if again, err := pull(t, address+"/some/etcd:2").Digest(); err != nil || again != digest {
		t.Errorf("what the other one lacks is %v, %v", again, err)
	}
	config, err := pull(t, address+"/kube-apiserver:v1").ConfigFile()
	if err != nil || config.Config.Entrypoint[0] != "another" {
		t.Errorf("what both have is not the current one: %v, %v", config, err)
	}
	response, err := http.Get("http://" + address + "/binaries/v1/kubeadm")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("a binary that the other one lacks: %s", response.Status)
	}

	// A version that is gone, or not whole yet, is no answer.
	if err := os.Rename(filepath.Join(w.store, first), filepath.Join(w.store, first+fresh)); err != nil {
		t.Fatal(err)
	}
	if response, err = http.Get("http://" + address + "/v2/some/etcd/manifests/2"); err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusNotFound {
		t.Errorf("what only a part of a version has: %s", response.Status)
	}
}
