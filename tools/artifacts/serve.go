package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// handler serves a store: what clients of a registry ask to pull an image (the OCI distribution specification), and files.
// Each request reads what is current then, so a store that was brought up to date needs no restart.
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

// current is the folder of the store's current version, or of nothing.
func (h handler) current() string {
	link := filepath.Join(h.store, artifacts.Current)
	if folder, err := filepath.EvalSymlinks(link); err == nil {
		return folder
	}
	return link
}

// health tells whether there is anything to serve: a store that was removed and made again is not seen through an old mount.
func (h handler) health(w http.ResponseWriter, _ *http.Request) {
	if _, err := readIndex(filepath.Join(h.current(), artifacts.ImagesFolder)); err != nil {
		http.Error(w, "the store has no images", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

func (h handler) files(folder string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.FileServer(http.Dir(filepath.Join(h.current(), folder))).ServeHTTP(w, r)
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
	images := filepath.Join(h.current(), artifacts.ImagesFolder)
	repositories, err := readIndex(images)
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "UNKNOWN", "the store has no images")
		return
	}
	if m := manifestPath.FindStringSubmatch(r.URL.Path); m != nil {
		for _, image := range repositories[m[1]] {
			if m[2] == image.tag || m[2] == image.Digest.String() {
				serveBlob(w, r, images, image.Digest.String(), string(image.MediaType))
				return
			}
		}
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "there is no such image")
		return
	}
	if m := blobPath.FindStringSubmatch(r.URL.Path); m != nil {
		if len(repositories[m[1]]) == 0 || !digestForm.MatchString(m[2]) {
			refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "there is no such blob")
			return
		}
		serveBlob(w, r, images, m[2], "application/octet-stream")
		return
	}
	if m := tagsPath.FindStringSubmatch(r.URL.Path); m != nil && len(repositories[m[1]]) > 0 {
		var tags []string
		for _, image := range repositories[m[1]] {
			tags = append(tags, image.tag)
		}
		slices.Sort(tags)
		answer(w, map[string]any{"name": m[1], "tags": tags})
		return
	}
	refuse(w, http.StatusNotFound, "NAME_UNKNOWN", "there is no such repository")
}

// named is one image of the layout with its tag.
type named struct {
	v1.Descriptor
	tag string
}

// readIndex lists a layout's images by repository.
func readIndex(images string) (map[string][]named, error) {
	text, err := os.ReadFile(filepath.Join(images, "index.json"))
	if err != nil {
		return nil, err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, err
	}
	found := map[string][]named{}
	for _, d := range index.Manifests {
		image := artifacts.Image{Name: d.Annotations[refName]}
		found[image.Repository()] = append(found[image.Repository()], named{Descriptor: d, tag: image.Tag()})
	}
	return found, nil
}

// serveBlob serves content by its digest, whole or a part of it.
func serveBlob(w http.ResponseWriter, r *http.Request, images, digest, mediaType string) {
	f, err := os.Open(filepath.Join(images, "blobs", "sha256", strings.TrimPrefix(digest, "sha256:")))
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
