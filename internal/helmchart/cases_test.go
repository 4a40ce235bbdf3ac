package helmchart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func init() { pauses = []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond} }

// TestCaseK12 has a repository of charts that fails now and then: it is asked again,
// what it will not give is told at once, and another chart than the one of its index
// is refused.
func TestCaseK12(t *testing.T) {
	const chart = "the chart"
	sum := sha256.Sum256([]byte(chart))
	for name, c := range map[string]struct {
		answers []int // of the file, one after the other, the last for ever
		digest  string
		fails   string
		asked   int
	}{
		"works":                  {[]int{200}, hex.EncodeToString(sum[:]), "", 1},
		"fails twice":            {[]int{503, 500, 200}, "sha256:" + hex.EncodeToString(sum[:]), "", 3},
		"is asked too much":      {[]int{429, 200}, "", "", 2},
		"cuts the answer off":    {[]int{0, 200}, "", "", 2},
		"fails":                  {[]int{502}, "", "answers 502", 4},
		"does not have the file": {[]int{404, 200}, "", "answers 404", 1},
		"has another file":       {[]int{200}, strings.Repeat("0", 64), "is not what", 1},
	} {
		asked := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/index.yaml" {
				fmt.Fprintf(w, "entries: {c: [{version: v1.2.3, digest: %q, urls: [c.tgz]}]}", c.digest)
				return
			}
			code := c.answers[min(asked, len(c.answers)-1)]
			asked++
			if code == 0 {
				w.Header().Set("Content-Length", "100")
				code = http.StatusOK
			}
			w.WriteHeader(code)
			fmt.Fprint(w, chart)
		}))
		got, err := Fetch(t.Context(), Source{Repository: server.URL, Name: "c", Version: "v1.2.3"})
		server.Close()
		if (err == nil) != (c.fails == "") || err == nil && string(got) != chart || err != nil && !strings.Contains(err.Error(), c.fails) || asked != c.asked {
			t.Errorf("%s: %q, %v, after %d requests, want %d", name, got, err, asked, c.asked)
		}
	}
}
