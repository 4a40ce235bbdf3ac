package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// Each environment's whole file set is pinned, with modes.
func TestRenderGolden(t *testing.T) {
	for _, environment := range environments(t) {
		t.Run(environment, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "set")
			stdout, stderr, err := run(t, "render", environment, "--out", dir)
			if err != nil || stderr != "" {
				t.Fatalf("render: %v\n%s", err, stderr)
			}
			var list strings.Builder
			for _, path := range strings.Fields(stdout) {
				content, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				info, err := os.Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				name, err := filepath.Rel(dir, path)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&list, "%04o %s\n", info.Mode().Perm(), name)
				golden(t, filepath.Join("testdata", "render", environment, name), string(content))
			}
			golden(t, filepath.Join("testdata", "render", environment, "FILES"), list.String())
			left, _ := filepath.Glob(filepath.Join(dir, ".*"))
			if len(left) > 0 {
				t.Errorf("temporary files left: %q", left)
			}
		})
	}
}

// What is printed is what is written.
func TestRenderPrintsTheSame(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := run(t, "render", "lab-slurm", "--out", dir); err != nil {
		t.Fatal(err)
	}
	stdout, _, err := run(t, "render", "lab-slurm")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) < 4 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		content, _ := os.ReadFile(file)
		if !strings.Contains(stdout, "/etc/slurm/"+filepath.Base(file)+" (mode ") || !strings.Contains(stdout, string(content)) {
			t.Errorf("%s is not in what render prints", filepath.Base(file))
		}
	}
}

// Case S79: a file without our header belongs to somebody else.
func TestS79RenderKeepsForeignFiles(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "topology.conf")
	if err := os.WriteFile(foreign, []byte("SwitchName=mine Nodes=gpu[01-04]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := run(t, "render", "lab-slurm", "--out", dir)
	if err == nil || !strings.Contains(err.Error(), "not written by gpucluster: topology.conf") {
		t.Fatalf("error %v", err)
	}
	if content, _ := os.ReadFile(foreign); string(content) != "SwitchName=mine Nodes=gpu[01-04]\n" {
		t.Error("the foreign file changed")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files in the folder, want only the foreign one", len(files))
	}
}

// A second run replaces what the first wrote, and gives it the right mode.
func TestRenderReplacesItsOwn(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := run(t, "render", "lab-slurm", "--out", dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "slurm.conf")
	if err := os.WriteFile(path, []byte("# slurm.conf: written by gpucluster. x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "render", "lab-slurm", "--out", dir); err != nil {
		t.Fatal(err)
	}
	content, _ := os.ReadFile(path)
	info, _ := os.Stat(path)
	if !slurmconf.IsOurs(string(content)) || !strings.Contains(string(content), "ClusterName=lab-slurm") || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, content:\n%s", info.Mode(), content)
	}
}

func TestRenderReportsAnUnwritableFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(t, "render", "lab-slurm", "--out", filepath.Join(file, "below")); err == nil {
		t.Error("no error for a folder below a file")
	}
}
