package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRaiseInotify checks that the bound is raised and never lowered.
func TestRaiseInotify(t *testing.T) {
	for name, c := range map[string]struct{ was, is, said string }{
		"the kernel's default":   {"128\n", "4096", "from 128 to 4096"},
		"raised already":         {"4096\n", "4096\n", ""},
		"a site that has more":   {"100000\n", "100000\n", ""},
		"not what a kernel says": {"many\n", "many\n", "error"},
	} {
		file := filepath.Join(t.TempDir(), "bound")
		if err := os.WriteFile(file, []byte(c.was), 0o644); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		if err := raiseInotify(file, &said); (err != nil) != (c.said == "error") {
			t.Errorf("%s: error %v", name, err)
		}
		if c.said != "error" && !strings.Contains(said.String(), c.said) {
			t.Errorf("%s: said %q, want %q", name, said.String(), c.said)
		}
		if is, err := os.ReadFile(file); err != nil || string(is) != c.is {
			t.Errorf("%s: is %q, %v, want %q", name, is, err, c.is)
		}
	}
	if err := raiseInotify(filepath.Join(t.TempDir(), "none"), &strings.Builder{}); err == nil {
		t.Error("a kernel without the bound is no error")
	}
}
