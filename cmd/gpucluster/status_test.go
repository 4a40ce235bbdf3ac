package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
)

// TestFirstJob checks that the job that status proposes is one that the cluster
// can run.
func TestFirstJob(t *testing.T) {
	for name, c := range map[string]struct{ sinfo, want string }{
		"GPUs":                    {"train* 4 gpu:h100:8\ndebug 2 gpu:h100:8\n", "srun -N2 --gres=gpu:1 nvidia-smi -L"},
		"one host":                {"train* 1 gpu:h100:8\n", "srun -N1 --gres=gpu:1 nvidia-smi -L"},
		"no GPUs":                 {"batch* 40 (null)\n", "srun -N2 hostname"},
		"the default comes later": {"viz 16 gpu:l40s:4(S:0)\nbatch* 1 (null)\nbatch* 9 gpu:h100:8\n", "srun -N1 hostname"},
		"no default":              {"viz 16 gpu:l40s:4(S:0)\nbatch 1 (null)\n", "srun -p viz -N2 --gres=gpu:1 nvidia-smi -L"},
		"an empty default":        {"train* 0 (null)\nviz 3 (null)\n", "srun -p viz -N2 hostname"},
		"no host":                 {"train* 0 n/a\n", ""},
		"nothing":                 {"", ""},
	} {
		if got := firstJob(c.sinfo); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLoginHost checks that a cluster without login hosts is not left without a
// word about where to run jobs.
func TestLoginHost(t *testing.T) {
	for want, outputs := range map[string]stackoutput.Outputs{
		"login1": {Logins: []string{"login1", "login2"}, Controllers: []string{"ctl1"}},
		"ctl1":   {Controllers: []string{"ctl1", "ctl2"}},
	} {
		if got := loginHost(outputs); got != want {
			t.Errorf("%+v: %q, want %q", outputs, got, want)
		}
	}
}

// TestSSH runs the program itself, with stand-ins for pulumi and ssh, and looks
// at the status with which it ends.
func TestSSH(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pulumi": `echo '{"name":"e","targets":"[{\"name\":\"login1\"},{\"name\":\"gpu1\"},{\"name\":\"gpu2\"}]"}'`,
		"ssh":    "echo \"ssh: $*\"; exit 37",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "gpucluster")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	for name, c := range map[string]struct {
		words  []string
		status int
		want   string
	}{
		"ssh's own status": {[]string{"login1", "--", "exit", "37"}, 37, " login1 -- exit 37\n"},
		"a misspelt host":  {[]string{"logn1"}, 1, "e has no host \"logn1\"\n  hint: did you mean \"login1\"?\n"},
		"an unknown host":  {[]string{"somewhere"}, 1, "e has no host \"somewhere\"\n  hint: there are: gpu[1-2],login1\n"},
	} {
		cmd := exec.Command(program, append([]string{"ssh", "e"}, c.words...)...)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.status || !strings.HasSuffix(string(out), c.want) {
			t.Errorf("%s: %v\n%s\nwant status %d and %q", name, err, out, c.status, c.want)
		}
	}
}
