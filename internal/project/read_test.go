package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadStackFile(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file.yaml"), filepath.Join(dir, "link.yaml"), filepath.Join(dir, "pipe.yaml")
	err := errors.Join(os.WriteFile(file, []byte("name: x\n"), 0o600), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link} {
		if got, err := ReadStackFile(path); err != nil || string(got) != "name: x\n" {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{pipe, dir} {
		if _, err := ReadStackFile(path); err == nil || !strings.Contains(err.Error(), path+": not a regular file") {
			t.Errorf("%s: error %v", path, err)
		}
	}
	if _, err := ReadStackFile(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
