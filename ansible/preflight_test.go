package ansible

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCaseK42 checks that a containerd which leaves pods behind when it is started
// again is found before a host becomes a member.
func TestCaseK42(t *testing.T) {
	folder := t.TempDir()
	says := func(name, text string) map[string]any {
		write(t, folder, name, "#!/bin/sh\necho '"+text+"'\n")
		program := filepath.Join(folder, name)
		if err := os.Chmod(program, 0o755); err != nil {
			t.Fatal(err)
		}
		// The name keeps the look from passing on any machine: what counts is what it says.
		return map[string]any{"endpoint": "nowhere.invalid:6443", "containerd": program}
	}
	const module = "gpucluster.host.kubernetes_preflight"
	const upstream = "containerd github.com/containerd/containerd "
	runLocally(t, []task{
		{name: "old", module: module, want: "failed", args: says("old", upstream+"1.6.9~ds1 1.6.9~ds1-1"), says: []string{"containerd is 1.6.9: install 1.6.20 or newer", "nowhere.invalid"}},
		{name: "very old", module: module, want: "failed", args: says("older", upstream+"v1.5.18 abc"), says: []string{"containerd is 1.5.18"}},
		{name: "Debian 12's", module: module, want: "failed", args: says("twelve", upstream+"1.6.20~ds1 1.6.20~ds1-1+deb12u1"), says: []string{"nowhere.invalid"}, silent: "containerd"},
		{name: "of the next line", module: module, want: "failed", args: says("next", "containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7"), says: []string{"nowhere.invalid"}, silent: "containerd"},
		{name: "none", module: module, want: "failed", args: says("none", ""), says: []string{"containerd does not tell its version: it says nothing"}},
	})
}
