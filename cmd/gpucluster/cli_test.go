package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// run executes the program's command line and returns what it prints.
func run(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errOut)
	err = root.Execute()
	return out.String(), errOut.String(), err
}

// environments are the names of all stack files.
func environments(t *testing.T) []string {
	t.Helper()
	names := environmentNames("../..")
	if len(names) == 0 {
		t.Fatal("no environments")
	}
	return names
}

func TestCheckSummarizes(t *testing.T) {
	for _, name := range environments(t) {
		t.Run(name, func(t *testing.T) {
			stdout, stderr, err := run(t, "check", name)
			if err != nil || stderr != "" {
				t.Fatalf("check: %v\n%s", err, stderr)
			}
			golden(t, filepath.Join("testdata", "check", name+".txt"), stdout)
		})
	}
}

// A bad file: the whole report is the error, and nothing is printed or written.
func TestCheckRefuses(t *testing.T) {
	bad, err := filepath.Glob("../../config/testdata/bad/*.yaml")
	if err != nil || len(bad) == 0 {
		t.Fatal("no bad files", err)
	}
	dir := t.TempDir()
	for _, file := range bad {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(strings.TrimSuffix(file, ".yaml") + ".report")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(path, content, 0o444); err != nil {
			t.Fatal(err)
		}
		failed := !strings.Contains(string(want), "\n0 problems")
		for _, args := range [][]string{{"check", path}, {"render", path, "--out", filepath.Join(dir, "out")}} {
			stdout, _, err := run(t, args...)
			switch {
			case failed && err == nil:
				t.Errorf("%v: no error", args)
			case failed && (strings.ReplaceAll(err.Error(), path, filepath.Base(file)) != string(want) || stdout != ""):
				t.Errorf("%v: error\n%s\nwant\n%s", args, err, want)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestUnknownEnvironment(t *testing.T) {
	for argument, want := range map[string]string{
		"lab-slrum":          "did you mean \"lab-slurm\"?",
		"something-else":     "there are: ",
		"no/such/file.yaml":  "no such file",
		"../../stacks/x.txt": "no such file",
	} {
		_, _, err := run(t, "check", argument)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check %s: %v, want %q in it", argument, err, want)
		}
	}
	for _, command := range []string{"check", "render", "status"} {
		if _, _, err := run(t, command); err == nil || !strings.Contains(err.Error(), "which environment?\n  hint: there are: "+strings.Join(environments(t), ", ")) {
			t.Errorf("%s without an environment: %v", command, err)
		}
	}
	t.Chdir(t.TempDir())
	if _, _, err := run(t, "check"); err == nil || !strings.Contains(err.Error(), "give the path of its file") {
		t.Errorf("outside of a project, without an environment: %v", err)
	}
	if _, _, err := run(t, "check", "lab-slurm"); err == nil || !strings.Contains(err.Error(), "run it within the project") {
		t.Errorf("outside of a project: %v", err)
	}
}

func TestVersion(t *testing.T) {
	stdout, _, err := run(t, "--version")
	if err != nil || !strings.HasPrefix(stdout, "gpucluster version ") || strings.TrimSpace(strings.TrimPrefix(stdout, "gpucluster version ")) == "" {
		t.Errorf("%q, %v", stdout, err)
	}
}

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
