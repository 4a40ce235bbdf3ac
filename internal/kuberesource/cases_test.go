package kuberesource

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCaseK03 checks that no program of ours has a chart's objects made one by one,
// which loses Helm's order and hooks: all charts are installed by Helm.
func TestCaseK03(t *testing.T) {
	oneByOne := regexp.MustCompile(`"(kubernetes:helm\.sh/v[0-9]:Chart|kubernetes:(yaml|kustomize)|[^"]*/go/kubernetes/(helm|yaml|kustomize))[^"]*"`)
	judged := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != "../..":
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "kuberesource/cases_test.go"):
			return nil
		}
		judged++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if at := oneByOne.Find(text); at != nil {
			t.Errorf("%s has %s", path, at)
		}
		return nil
	})
	if err != nil || judged < 100 {
		t.Errorf("%d files were judged, %v", judged, err)
	}
}
