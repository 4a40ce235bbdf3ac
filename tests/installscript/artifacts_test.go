package installscript

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhoGetsKubernetes checks for which environments what a lab's Kubernetes is
// made of is made: its program here only tells that it was called, and the
// packages that it needs are asked for before.
func TestWhoGetsKubernetes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: others only find it made")
	}
	for name, c := range map[string]struct {
		environment string
		want        bool
	}{
		"Kubernetes in a lab":     {"    scheduler: kubernetes\n    lab: {}\n", true},
		"both in a lab":           {"    scheduler: \"hybrid\" # both\n    lab: {}\n", true},
		"Slurm in a lab":          {"    scheduler: slurm # not kubernetes\n    lab: {}\n", false},
		"not yet":                 {"    # scheduler: kubernetes\n    scheduler: slurm\n    lab: {}\n", false},
		"Kubernetes on servers":   {"    scheduler: kubernetes\n    inventory: {}\n", false},
		"nothing that there is":   {"    scheduler: kubernetesque\n    lab: {}\n", false},
		"the lab before the word": {"    lab: {subnet: 10.1.0.0/24}\n    scheduler: 'kubernetes'\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			checkout, programs := bare(t, true)
			place(t, filepath.Join(checkout, "stacks", "Pulumi.env.yaml"), "config:\n  gpucluster:environment:\n"+c.environment)
			for _, tool := range []string{"pulumi", "pulumi-language-go"} {
				place(t, filepath.Join(checkout, "tools", tool, "go.mod"), "module x\n")
			}
			place(t, filepath.Join(checkout, "tools", "pulumi-language-go", "wrapper.sh"), "#!/bin/sh\n")
			place(t, filepath.Join(checkout, ".tools", "stamps", "command-plugin-1.2.1"), "real\n")
			place(t, filepath.Join(checkout, ".tools", "stamps", "kubernetes-plugin-4.32.0"), "real\n")
			place(t, filepath.Join(checkout, ".tools", "bin", "artifacts"), "#!/bin/sh\necho called: artifacts \"$1\"\n")
			for _, program := range []string{"ansible-playbook", "ssh", "python3", "docker", "dockerd", "mmdebstrap"} {
				place(t, filepath.Join(programs, program), "#!/bin/sh\n")
			}
			for _, program := range []string{"awk", "cmp", "cut", "find", "install", "sha256sum", "sort", "xargs"} {
				at, err := exec.LookPath(program)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(at, filepath.Join(programs, program)); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(filepath.Join(checkout, "tools", "install.sh"), "--for", "env")
			cmd.Dir, cmd.Env = checkout, []string{"PATH=" + programs, "HOME=" + checkout}
			output, err := cmd.CombinedOutput()
			called := strings.Contains(string(output), "called: artifacts build")
			asked := strings.Contains(string(output), "could not be installed") && strings.Contains(string(output), "libc6-dev")
			if (called || asked) != c.want || !c.want && err != nil {
				t.Errorf("%v, it says:\n%s", err, output)
			}
		})
	}
}

// place writes a file that can be run, with its folder.
func place(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}
