package kubetest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

const (
	// recordFile is where the server writes what it was asked.
	recordFile = "record.json"
	// recordPolicy has it write each request when it is answered.
	recordPolicy = `{"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitStages":["RequestReceived","ResponseStarted","Panic"],"rules":[{"level":"Metadata"}]}`
)

// Changes are what administrators have asked the server to change since it runs, a
// verb and a path each. What was only tried, and questions that are asked as if
// something were made, are none. The server has to run with [Record].
func (a *API) Changes(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile(a.plane.file(recordFile))
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for line := range strings.Lines(string(text)) {
		var request struct {
			Verb string `json:"verb"`
			URI  string `json:"requestURI"`
			User struct {
				Name string `json:"username"`
			} `json:"user"`
		}
		if err := json.Unmarshal([]byte(line), &request); err != nil {
			t.Fatalf("reading the record: %v", err)
		}
		switch {
		case request.User.Name != "admin", request.Verb == "get", request.Verb == "list", request.Verb == "watch":
		case strings.Contains(request.URI, "dryRun=All"), strings.HasPrefix(request.URI, "/apis/authorization.k8s.io/"):
		default:
			path, _, _ := strings.Cut(request.URI, "?")
			changes = append(changes, request.Verb+" "+path)
		}
	}
	return changes
}
