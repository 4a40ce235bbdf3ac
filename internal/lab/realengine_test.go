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
		if left := everything(t, e, name); len(left) > 0 {
			t.Errorf("destroy left %v", left)
		}
		if _, err := os.Stat(e.registry(name).dir()); !os.IsNotExist(err) {
			t.Errorf("destroy left %s", e.registry(name).dir())
		}
	})
	return name
}

// everything lists what the engine has of a lab, by name: also what lost its labels.
func everything(t *testing.T, e *Engine, lab string) []string {
	t.Helper()
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
			_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
			if name == NetworkName(lab) || strings.HasPrefix(name, ContainerName(lab, "")) {
				found = append(found, name)
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
