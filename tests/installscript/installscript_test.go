// Package installscript tests what tools/install.sh asks of a machine that has
// nothing but Go.
package installscript

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// bare is a checkout with two environments, and a folder with the only programs
// of a machine. Its apt-get, if there is one, can install nothing.
func bare(t *testing.T, apt bool) (checkout, programs string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "installscript")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	checkout, programs = filepath.Join(dir, "checkout"), filepath.Join(dir, "bin")
	script, err := os.ReadFile("../../tools/install.sh")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"checkout/tools/install.sh":           string(script),
		"checkout/stacks/Pulumi.a-lab.yaml":   "config:\n  gpucluster:environment:\n    name: a-lab\n    lab: {}\n",
		"checkout/stacks/Pulumi.servers.yaml": "config:\n  gpucluster:environment:\n    name: servers # no lab:\n    inventory:\n",
		"checkout/.tools/.keep":               "",
		"bin/go":                              "#!/bin/sh\necho go1.26\n",
	}
	if apt {
		files["bin/apt-get"] = "#!/bin/sh\nexit 1\n"
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bash", "dirname", "mkdir", "flock", "mktemp", "sleep", "rm", "tail", "grep", "env"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(programs, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{dir, filepath.Join(checkout, ".tools")} {
		if err := os.Chmod(folder, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return checkout, programs
}

func TestPackages(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be somebody else too")
	}
	const base = "ansible-core openssh-client python3"
	for name, c := range map[string]struct {
		words  []string
		apt    bool
		nobody bool
		want   string
		others bool // whether what a lab needs is asked for as well
	}{
		"no environment":            {nil, true, false, "packages could not be installed; type: apt-get install -y --no-install-recommends " + base, false},
		"somebody else":             {nil, true, true, "only root can install them; type: sudo apt-get install -y --no-install-recommends " + base, false},
		"another system":            {nil, false, false, "this is not a Debian system: install " + base, false},
		"another system, not root":  {nil, false, true, "this is not a Debian system: install " + base, false},
		"servers":                   {[]string{"--for", "servers"}, true, false, base, false},
		"a lab":                     {[]string{"--for", "a-lab"}, true, false, base, true},
		"a lab in a file elsewhere": {[]string{"--for", "stacks/Pulumi.a-lab.yaml"}, true, false, base, true},
		"tests":                     {[]string{"--test"}, true, false, base, true},
	} {
		t.Run(name, func(t *testing.T) {
			checkout, programs := bare(t, c.apt)
			run := func() string {
				cmd := exec.Command(filepath.Join(checkout, "tools", "install.sh"), c.words...)
				cmd.Dir, cmd.Env = checkout, []string{"PATH=" + programs, "HOME=" + checkout}
				if c.nobody {
					cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
				}
				output, err := cmd.CombinedOutput()
				if err == nil {
					t.Errorf("it succeeds:\n%s", output)
				}
				return string(output)
			}
			if output := run(); !strings.Contains(output, c.want) {
				t.Errorf("it says:\n%s\nwant %q", output, c.want)
			}
			// With those at hand, only a lab needs more.
			for _, program := range []string{"ansible-playbook", "ssh", "python3"} {
				if err := os.WriteFile(filepath.Join(programs, program), []byte("#!/bin/sh\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if output := run(); strings.Contains(output, "docker.io") != c.others || strings.Contains(output, "mmdebstrap") != c.others {
				t.Errorf("a lab's programs are asked for, which is wrong, or are not:\n%s", output)
			}
		})
	}
}

// TestSomebodyElsesCheckout checks what somebody reads who may not write into
// the checkout, or into the tools that another user has put there.
func TestSomebodyElsesCheckout(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be somebody else too")
	}
	for name, made := range map[string]func(tools string) error{
		"no tools yet":     os.RemoveAll,
		"tools of root":    func(tools string) error { return os.Chmod(tools, 0o755) },
		"a lock of root":   func(tools string) error { return os.WriteFile(filepath.Join(tools, "lock"), nil, 0o644) },
		"programs of root": func(tools string) error { return os.Mkdir(filepath.Join(tools, "bin"), 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			checkout, programs := bare(t, true)
			if err := made(filepath.Join(checkout, ".tools")); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(filepath.Join(checkout, "tools", "install.sh"))
			cmd.Dir, cmd.Env = checkout, []string{"PATH=" + programs, "HOME=" + checkout}
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			output, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(output), "cannot be written, since another user made this checkout or its tools: go on as that user, or in a checkout of your own: git clone "+checkout) {
				t.Errorf("%v, it says:\n%s", err, output)
			}
			if strings.Contains(string(output), "Permission denied") {
				t.Errorf("it also shows how it found out:\n%s", output)
			}
		})
	}
}
