package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// handler serves a store: what clients of a registry ask to pull an image (the OCI distribution specification), and files.
// Each request reads what is there then, so a store that was brought up to date needs no restart. What the current version
// lacks is looked for in the others: they are those of other checkouts, whose labs go on.
type handler struct{ store string }

func newHandler(store string) http.Handler {
	h := handler{store: store}
	mux := http.NewServeMux()
	mux.HandleFunc("/v2/", h.registry)
	mux.HandleFunc("/healthz", h.health)
	for _, folder := range []string{artifacts.BinariesFolder, artifacts.ChartsFolder} {
		mux.Handle("/"+folder+"/", http.StripPrefix("/"+folder, h.files(folder)))
	}
	return readOnly(mux)
}

// readOnly refuses whatever is no question.
func readOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "nothing can be pushed here")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// versions lists the folders of all versions, the current one first, then the newest.
func (h handler) versions() []string {
	current, err := filepath.EvalSymlinks(filepath.Join(h.store, artifacts.Current))
	if err != nil {
		current = ""
	}
	all, err := filepath.Glob(filepath.Join(filepath.Dir(current), "*"))
	if current == "" || err != nil {
		return nil
	}
	all = slices.DeleteFunc(all, func(folder string) bool { return folder == current || strings.HasSuffix(folder, fresh) })
	slices.SortStableFunc(all, func(a, b string) int { return modified(b).Compare(modified(a)) })
	return append([]string{current}, all...)
}

// modified is when a file was, or long ago for one that is gone.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// health tells whether there is anything to serve: a store that was removed and made again is not seen through an old mount.
func (h handler) health(w http.ResponseWriter, _ *http.Request) {
	if len(h.images()) == 0 {
		http.Error(w, "the store has no images", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (h handler) files(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		versions := h.versions()
		for _, version := range versions {
			if f, err := http.Dir(filepath.Join(version, folder)).Open(path.Clean("/" + r.URL.Path)); err == nil {
				f.Close()
				versions = []string{version}
				break
			}
		}
		if len(versions) != 1 {
			http.NotFound(w, r)
			return
		}
		http.FileServer(http.Dir(filepath.Join(versions[0], folder))).ServeHTTP(w, r)
	})
}

// Paths of the specification; the name may have slashes itself.
var (
	manifestPath = regexp.MustCompile(`^/v2/(.+)/manifests/([^/]+)$`)
	blobPath     = regexp.MustCompile(`^/v2/(.+)/blobs/([^/]+)$`)
	tagsPath     = regexp.MustCompile(`^/v2/(.+)/tags/list$`)
	digestForm   = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

func (h handler) registry(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
	if r.URL.Path == "/v2/" {
		answer(w, struct{}{})
		return
	}
	if m := manifestPath.FindStringSubmatch(r.URL.Path); m != nil {
		for _, image := range h.repository(m[1]) {
			if m[2] == image.tag || m[2] == image.Digest.String() {
				serveBlob(w, r, image.layout, image.Digest.String(), string(image.MediaType))
				return
			}
		}
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "there is no such image")
		return
	}
	if m := blobPath.FindStringSubmatch(r.URL.Path); m != nil {
		for _, image := range h.repository(m[1]) {
			if digestForm.MatchString(m[2]) && exists(blobFile(image.layout, m[2])) {
				serveBlob(w, r, image.layout, m[2], "application/octet-stream")
				return
			}
		}
		refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "there is no such blob")
		return
	}
	if m := tagsPath.FindStringSubmatch(r.URL.Path); m != nil {
		if list := h.repository(m[1]); len(list) > 0 {
			var tags []string
			for _, image := range list {
				tags = append(tags, image.tag)
			}
			slices.Sort(tags)
			answer(w, map[string]any{"name": m[1], "tags": slices.Compact(tags)})
			return
		}
	}
	refuse(w, http.StatusNotFound, "NAME_UNKNOWN", "there is no such repository")
}

// named is one image of a layout.
type named struct {
	v1.Descriptor
	layout, repository, tag string
}

// repository lists the images of one repository.
func (h handler) repository(name string) []named {
	return slices.DeleteFunc(h.images(), func(image named) bool { return image.repository != name })
}

// images lists the images of all versions. One without an index has none.
func (h handler) images() []named {
	var found []named
	for _, version := range h.versions() {
		layout := filepath.Join(version, artifacts.ImagesFolder)
		text, err := os.ReadFile(filepath.Join(layout, "index.json"))
		if err != nil {
			continue
		}
		var index v1.IndexManifest
		if err := json.Unmarshal(text, &index); err != nil {
			continue
		}
		for _, d := range index.Manifests {
			image := artifacts.Image{Name: d.Annotations[refName]}
			found = append(found, named{Descriptor: d, layout: layout, repository: image.Repository(), tag: image.Tag()})
		}
	}
	return found
}

// blobFile is where a layout keeps content.
func blobFile(layout, digest string) string {
	return filepath.Join(layout, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:"))
}

// serveBlob serves content by its digest, whole or a part of it.
func serveBlob(w http.ResponseWriter, r *http.Request, layout, digest, mediaType string) {
	f, err := os.Open(blobFile(layout, digest))
	if err != nil {
		refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "there is no such blob")
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Docker-Content-Digest", digest)
	w.Header().Set("ETag", `"`+digest+`"`)
	http.ServeContent(w, r, "", time.Time{}, f)
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone misses nothing
}

// refuse answers with an error in the form that clients of registries show.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": message}}})
}
