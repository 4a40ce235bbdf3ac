package cluster

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Checkout is a copy of this repository with its tools.
type Checkout struct {
	// Root is its top folder.
	Root string
}

var tools struct {
	sync.Once
	output string
	err    error
}

// This returns the checkout that the test was compiled from, its tools up to
// date.
func This(t testing.TB) Checkout {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for at := here; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "Pulumi.yaml")); err == nil {
			c := Checkout{Root: at}
			tools.Do(func() { tools.output, tools.err = c.install() })
			if tools.err != nil {
				t.Fatalf("making the tools: %v\n%s", tools.err, tools.output)
			}
			return c
		}
		if at == filepath.Dir(at) {
			t.Fatalf("no Pulumi.yaml in %s or above", here)
		}
	}
}

func (c Checkout) install() (string, error) {
	output, err := exec.Command(filepath.Join(c.Root, "tools", "install.sh")).CombinedOutput()
	return string(output), err
}

// Clone makes a second checkout at another path, as a colleague has it: what is
// in this one, committed, and the toolkit built from there. Pulumi and its
// plugins, which take minutes to build, are this checkout's.
func (c Checkout) Clone(t testing.TB) Checkout {
	t.Helper()
	clone := c.CloneWithTools(t)
	for _, own := range []string{"gpucluster", "gpucluster-stack"} {
		if err := os.Remove(filepath.Join(clone.Root, ".tools", "bin", own)); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := clone.install(); err != nil {
		t.Fatalf("making the tools of the clone: %v\n%s", err, output)
	}
	return clone
}

// CloneWithTools makes a second checkout on a machine where this checkout's
// tools are installed, the toolkit's own program included.
func (c Checkout) CloneWithTools(t testing.TB) Checkout {
	t.Helper()
	clone := Checkout{Root: filepath.Join(t.TempDir(), "another place", "gpucluster")}
	if err := os.MkdirAll(filepath.Dir(clone.Root), 0o755); err != nil {
		t.Fatal(err)
	}
	c.git(t, "clone", "--quiet", c.Root, clone.Root)
	clone.adopt(t, c)
	// What else is there are logs that runs at work write and remove.
	for _, folder := range []string{"bin", "stamps", filepath.Join("pulumi", "plugins")} {
		from, to := filepath.Join(c.Root, ".tools", folder), filepath.Join(clone.Root, ".tools", folder)
		if _, err := os.Stat(from); os.IsNotExist(err) {
			continue // the plugins of a Pulumi of the user's own are elsewhere
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if output, err := exec.Command("cp", "-a", "--link", from, to).CombinedOutput(); err != nil {
			t.Fatalf("linking the tools: %v\n%s", err, output)
		}
	}
	return clone
}

// adopt commits what the other checkout has beyond its last commit, so that a
// clone of a checkout somebody works in is the same program.
func (c Checkout) adopt(t testing.TB, other Checkout) {
	t.Helper()
	gone := other.git(t, "ls-files", "-z", "--deleted")
	for file := range strings.SplitSeq(other.git(t, "ls-files", "-z", "--modified", "--others", "--exclude-standard"), "\x00") {
		if file == "" || strings.Contains("\x00"+gone, "\x00"+file+"\x00") {
			continue
		}
		copyFile(t, filepath.Join(other.Root, file), filepath.Join(c.Root, file))
	}
	for file := range strings.SplitSeq(gone, "\x00") {
		if file != "" {
			_ = os.Remove(filepath.Join(c.Root, file))
		}
	}
	c.git(t, "add", "--all")
	c.git(t, "-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "--quiet", "--allow-empty", "-m", "As it is")
}

// Status is what git says of the checkout; empty means clean.
func (c Checkout) Status(t testing.TB) string {
	t.Helper()
	return c.git(t, "status", "--porcelain")
}

func (c Checkout) git(t testing.TB, words ...string) string {
	t.Helper()
	command := exec.Command("git", words...)
	if _, err := os.Stat(c.Root); err == nil {
		command.Dir = c.Root
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(words, " "), err, stderr.String())
	}
	return string(output)
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, info.Mode().Perm()); err != nil {
		t.Fatal(err)
	}
}
