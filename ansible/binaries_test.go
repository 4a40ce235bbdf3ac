package ansible

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// store serves programs with their digests, and counts what is asked.
func store(t *testing.T, programs map[string]string, sums string) (url string, asked *atomic.Int32) {
	t.Helper()
	asked = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		name := strings.TrimPrefix(r.URL.Path, "/")
		text, ok := programs[name]
		if name == "SHA256SUMS" {
			text, ok = sums, true
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func sum(text, name string) string { return fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(text)), name) }

func TestBinaries(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: what was placed is written down below /var/lib/gpucluster")
	}
	into := t.TempDir()
	at := func(name string) string { return filepath.Join(into, name) }
	first, asked := store(t, map[string]string{"a": "one", "b": "one", "c": "other"}, sum("one", "a")+sum("one", "b")+sum("other", "c"))
	second, _ := store(t, map[string]string{"a": "two"}, sum("two", "a"))
	third, _ := store(t, map[string]string{"theirs": "ours"}, sum("ours", "theirs"))
	wrong, _ := store(t, map[string]string{"a": "three"}, sum("four", "a"))
	write(t, into, "theirs", "theirs")
	const module = "gpucluster.host.binaries"
	args := func(url string, names ...string) map[string]any {
		return map[string]any{"url": url, "names": names, "into": into}
	}
	absent := map[string]any{"names": []string{"a", "b", "c", "theirs"}, "into": into, "state": "absent"}
	runLocally(t, []task{
		{name: "check mode", module: module, check: true, want: "changed", args: args(first, "a", "b"), changes: []string{at("a"), at("b")}},
		{name: "place", module: module, want: "changed", args: args(first, "a", "b", "c"), changes: []string{at("a"), at("b"), at("c")}},
		{name: "place again", module: module, want: "ok", args: args(first, "a", "b", "c")},
		{name: "another release", module: module, want: "changed", args: args(second, "a"), changes: []string{at("a")}},
		{name: "another digest than stated", module: module, want: "failed", args: args(wrong, "a"), says: []string{wrong + "/a cannot be had: it has the digest"}},
		{name: "not stated", module: module, want: "failed", args: args(second, "b"), says: []string{"SHA256SUMS does not list b"}},
		{name: "nobody answers", module: module, want: "failed", args: args("http://127.0.0.1:1", "a"), says: []string{"http://127.0.0.1:1/SHA256SUMS cannot be read"}},
		{name: "somebody else's", module: module, want: "failed", args: args(third, "theirs"), says: []string{at("theirs") + " exists and is not ours"}},
		{name: "remove", module: module, want: "changed", args: absent, changes: []string{at("a") + " (removed)", at("b") + " (removed)", at("c") + " (removed)"}},
		{name: "remove again", module: module, want: "ok", args: absent},
	})
	// SHA256SUMS in check mode and after it, one program for a and b, and c.
	if n := asked.Load(); n != 4 {
		t.Errorf("the server was asked %d times, want 4: twice for the digests, once for each program that differs, and never again", n)
	}
	left, err := os.ReadDir(into)
	if err != nil || len(left) != 1 || left[0].Name() != "theirs" {
		t.Errorf("left are %v, %v", left, err)
	}
	if found, _ := filepath.Glob("/var/lib/gpucluster/binaries/*" + filepath.Base(filepath.Dir(into)) + "*"); len(found) > 0 {
		t.Errorf("records are left: %v", found)
	}
}
