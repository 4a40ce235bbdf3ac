package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// realEngine returns the machine's engine, or skips the test where none can be had.
func realEngine(t *testing.T) *Engine {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a Docker engine and an image; not in -short")
	}
	e, err := EnsureEngine(t.Context(), testWriter{t})
	if err != nil {
		t.Skipf("needs a Docker engine: %v", err)
	}
	return e
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	fmt.Fprint(os.Stderr, string(p))
	return len(p), nil
}

// testLab makes a lab of its own name and checks at the end that nothing of it is left.
func testLab(t *testing.T, e *Engine, suffix string) string {
	t.Helper()
	name := fmt.Sprintf("t%d-%s", os.Getpid(), suffix)
	before := everything(t, e)
	if _, err := e.EnsureNetwork(t.Context(), NetworkSpec{Lab: name}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for range 2 { // the second time there is nothing to remove
			if err := e.RemoveNetwork(ctx, name); err != nil {
				t.Error(err)
			}
		}
		if after := everything(t, e); !slices.Equal(before, after) {
			t.Errorf("destroy left something:\nbefore %v\nafter  %v", before, after)
		}
		if _, err := os.Stat(e.registry(name).dir()); !os.IsNotExist(err) {
			t.Errorf("destroy left %s", e.registry(name).dir())
		}
	})
	return name
}

// everything lists what labs of this test process have, and every volume without a name of its own.
func everything(t *testing.T, e *Engine) []string {
	t.Helper()
	mine := fmt.Sprintf("gpucluster-t%d-", os.Getpid())
	var found []string
	for _, args := range [][]string{
		{"ps", "-a", "--format", "container {{.Names}}"},
		{"network", "ls", "--format", "network {{.Name}}"},
		{"volume", "ls", "--format", "volume {{.Name}}"},
	} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		out, err := e.docker.run(ctx, args...)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out) {
			if strings.Contains(line, mine) {
				found = append(found, strings.TrimSpace(line))
			}
		}
	}
	slices.Sort(found)
	return found
}

func testImage(t *testing.T, e *Engine, slurm string) string {
	t.Helper()
	info, err := e.EnsureImage(t.Context(), ImageSpec{Slurm: slurm})
	if err != nil {
		t.Fatal(err)
	}
	return info.Image
}

func testKey(t *testing.T) KeyPair {
	t.Helper()
	key, err := GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// onHost runs a command on a host over SSH, with the host's key verified.
func onHost(t *testing.T, h HostInfo, user string, key KeyPair, command string) (string, error) {
	t.Helper()
	signer, err := ssh.ParsePrivateKey([]byte(key.Private))
	if err != nil {
		t.Fatal(err)
	}
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(h.HostKey))
	if err != nil {
		t.Fatal(err)
	}
	client, err := ssh.Dial("tcp", net.JoinHostPort(h.Address, "22"), &ssh.ClientConfig{
		User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)}, Timeout: 10 * time.Second,
		HostKeyCallback: ssh.FixedHostKey(public), HostKeyAlgorithms: []string{public.Type()},
	})
	if err != nil {
		return "", err
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		return "", err
	}
	defer session.Close()
	out, err := session.CombinedOutput(command)
	return strings.TrimSpace(string(out)), err
}

func mustRun(t *testing.T, h HostInfo, key KeyPair, command string) string {
	t.Helper()
	out, err := onHost(t, h, "root", key, command)
	if err != nil {
		t.Fatalf("%s: %s: %v\n%s", h.Name, command, err, out)
	}
	return out
}

func mustEnsure(t *testing.T, e *Engine, spec HostSpec) HostInfo {
	t.Helper()
	h, err := e.EnsureHost(t.Context(), spec)
	if err != nil {
		out, _ := exec.Command("docker", "logs", "--tail", "30", ContainerName(spec.Lab, spec.Name)).CombinedOutput()
		t.Fatalf("%v\n%s", err, out)
	}
	return h
}

func TestHostLifeOnARealEngine(t *testing.T) {
	e := realEngine(t)
	image := testImage(t, e, "24.11")
	lab := testLab(t, e, "life")
	key := testKey(t)
	spec := HostSpec{Lab: lab, Name: "gpu1", Image: image, AuthorizedKey: key.Public, SudoUser: true,
		Hardware: Hardware{Sockets: 2, CoresPerSocket: 56, ThreadsPerCore: 2, MemoryMiB: 2048000, GPUs: GPUs{Count: 8}}}
	begin := time.Now()
	h := mustEnsure(t, e, spec)
	t.Logf("host ready after %.1f s", time.Since(begin).Seconds())

	if got := mustRun(t, h, key, "systemctl is-system-running --wait; systemctl --failed --no-legend --plain"); got != "running" {
		t.Errorf("the host is %q", got)
	}
	if got := mustRun(t, h, key, "hostname; id -un; getent hosts gpu1 | cut -d' ' -f1"); got != "gpu1\nroot\n"+h.Address {
		t.Errorf("the host says of itself %q", got)
	}
	if got, err := onHost(t, h, "ops", key, "sudo -n id -un"); err != nil || got != "root" {
		t.Errorf("ops with sudo is %q, %v", got, err)
	}
	gpus := func() string {
		return mustRun(t, h, key, "ls /dev/nvidia[0-9]* | wc -l; nvidia-smi -L 2>/dev/null | wc -l")
	}
	if got := gpus(); got != "8\n8" {
		t.Errorf("GPUs are %q", got)
	}

	if _, err := e.docker.run(t.Context(), "restart", h.Container); err != nil {
		t.Fatal(err)
	}
	if again := mustEnsure(t, e, spec); again != h {
		t.Errorf("after a reboot the host is %+v, was %+v", again, h)
	}
	if got := gpus(); got != "8\n8" {
		t.Errorf("after a reboot GPUs are %q", got)
	}

	boot := mustRun(t, h, key, "cat /proc/1/stat | cut -d' ' -f22")
	spec.Hardware.GPUs.Count = 4
	spec.SudoUser = false
	if again := mustEnsure(t, e, spec); again != h {
		t.Errorf("with fewer GPUs the host is %+v, was %+v", again, h)
	}
	if got := gpus(); got != "4\n4" {
		t.Errorf("after a change GPUs are %q", got)
	}
	if got := mustRun(t, h, key, "cat /proc/1/stat | cut -d' ' -f22"); got != boot {
		t.Error("a change of GPUs restarted the host")
	}
	if _, err := onHost(t, h, "ops", key, "true"); err == nil {
		t.Error("ops may still log in")
	}
}
