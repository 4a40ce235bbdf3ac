package config

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// Every bad file yields exactly the report that lies next to it.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d bad files (%v), want at least 100", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, report := Load(filepath.Base(file), content)
			if len(report.Problems) == 0 {
				t.Fatal("nothing was found wrong")
			}
			for _, p := range report.Problems {
				if p.Line < 1 || p.Column < 1 || p.File == "" || p.Kind == "" {
					t.Errorf("no position or kind: %+v", p)
				}
			}
			text := report.String()
			if strings.Contains(text, "canary") {
				t.Error("the report shows a secret")
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".report", text)
		})
	}
}

// golden compares text with a file, or writes the file with -update.
func golden(t *testing.T, file, text string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", file, text, want)
	}
}
