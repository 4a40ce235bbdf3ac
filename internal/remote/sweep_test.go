package remote

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestSweepRemovesWhatDeadProcessesLeft(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	parent := t.TempDir()
	cases := map[string]bool{ // name, whether it stays
		fmt.Sprintf("gpc-%d-123", dead.Process.Pid): false,
		fmt.Sprintf("gpc-%d-123", os.Getpid()):      true,
		"gpc-somebody-else":                         true,
		"gpc-0-1":                                   true,
		fmt.Sprintf("other-%d-1", dead.Process.Pid): true,
	}
	for name := range cases {
		if err := os.MkdirAll(filepath.Join(parent, name, "play-1"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(parent)
	for name, stays := range cases {
		if _, err := os.Stat(filepath.Join(parent, name)); (err == nil) != stays {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
}
