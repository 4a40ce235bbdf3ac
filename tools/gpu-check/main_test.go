package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestList(t *testing.T) {
	for name, c := range map[string]struct {
		visible string
		files   []string
		want    string
		err     string
	}{
		"two GPUs":              {"GPU-a,GPU-b", []string{"nvidia3", "nvidia10", "nvidiactl", "nvidia-uvm"}, "GPU 0: simulated (UUID: GPU-a)\nGPU 1: simulated (UUID: GPU-b)\n", ""},
		"no GPU":                {"", nil, "", ""},
		"void":                  {"void", nil, "", ""},
		"a device is missing":   {"GPU-a,GPU-b", []string{"nvidia0"}, "", "2 GPUs were given and 1 device files are there"},
		"a device of others":    {"GPU-a", []string{"nvidia0", "nvidia1"}, "", "1 GPUs were given and 2 device files are there"},
		"devices without names": {"", []string{"nvidia0"}, "", "0 GPUs were given and 1 device files are there"},
	} {
		t.Run(name, func(t *testing.T) {
			dev := t.TempDir()
			for _, file := range c.files {
				if err := os.WriteFile(filepath.Join(dev, file), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			err := list(&out, c.visible, dev)
			if out.String() != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
				t.Errorf("got %q, %v", out.String(), err)
			}
		})
	}
}
