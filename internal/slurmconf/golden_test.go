package slurmconf

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares every file of every sample with the one on disk, byte
// for byte, and renders twice.
func TestGolden(t *testing.T) {
	for _, v := range Supported {
		for name, c := range samples(v) {
			t.Run(v.String()+"/"+name, func(t *testing.T) {
				set, err := Render(c)
				if err != nil {
					t.Fatal(err)
				}
				again, err := Render(c)
				if err != nil {
					t.Fatal(err)
				}
				dir := filepath.Join("testdata", "golden", v.String(), name)
				if *update {
					writeGolden(t, dir, set)
				}
				checkGolden(t, dir, set)
				for name, text := range set.Map() {
					if again.Content(name) != text {
						t.Errorf("%s differs between two renderings", name)
					}
				}
			})
		}
	}
}

func writeGolden(t *testing.T, dir string, set FileSet) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range set.Map() {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func checkGolden(t *testing.T, dir string, set FileSet) {
	t.Helper()
	onDisk, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if len(onDisk) != len(set.Files) {
		t.Errorf("%d golden files, %d rendered", len(onDisk), len(set.Files))
	}
	for name, text := range set.Map() {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(want) != text {
			t.Errorf("%s: %s", name, firstDifference(string(want), text))
		}
		if !IsOurs(text) || !strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") {
			t.Errorf("%s: no header, no newline at its end, or a carriage return", name)
		}
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "line differs\nwant " + w[i] + "\ngot  " + g[i]
		}
	}
	return "one is longer than the other"
}
