package kubetest

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// eventually is how long something may take on a busy machine.
const eventually = 5 * time.Minute

// Eventually waits until an object is there and as it should be, and returns it.
func (a *API) Eventually(t testing.TB, path string, right func(map[string]any) bool) map[string]any {
	t.Helper()
	var last map[string]any
	var err error
	for end := time.Now().Add(eventually); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if last, err = a.Do(t.Context(), http.MethodGet, path, nil); err == nil && right(last) {
			return last
		}
	}
	text, _ := json.MarshalIndent(last, "", "  ")
	t.Fatalf("%s did not come to what it should be within %s: %v\n%s", path, eventually, err, text)
	return nil
}

// At walks into an object by keys, and returns nil where there is nothing.
func At(object map[string]any, keys ...string) any {
	var value any = object
	for _, key := range keys {
		inner, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = inner[key]
	}
	return value
}

// Soon repeats a request until it succeeds.
func (a *API) Soon(t testing.TB, request func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(eventually); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = request(); err == nil {
			return
		}
	}
	t.Fatalf("still not after %s: %v", eventually, err)
}
