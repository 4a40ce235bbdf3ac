package kubetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Kubectl runs kubectl as administrator, and returns what it prints.
func (a *API) Kubectl(t testing.TB, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.Command(a.plane.programs.kubernetes, append(args, "--kubeconfig", a.Kubeconfig)...)
	cmd.Args[0] = "kubectl"
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", args[0], err, complaint.String())
	}
	return out, nil
}

// Stop ends the server at once, as when its hosts are lost, before the test ends.
func (a *API) Stop() { a.plane.processes["kube-apiserver"].Kill() }

// Runner is a shell on which kubectl asks this server as administrator, wherever it
// is told to ask.
func (a *API) Runner(t testing.TB) shell.Runner {
	t.Helper()
	dir := t.TempDir()
	own := filepath.Join(dir, "own", "kubectl")
	script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\" --kubeconfig %s --server https://%s --tls-server-name %s\n", own, a.Kubeconfig, a.address, certified)
	err := errors.Join(os.Mkdir(filepath.Dir(own), 0o700), os.Symlink(a.plane.programs.kubernetes, own),
		os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	return shell.RunnerFunc(func(ctx context.Context, command string, stdin []byte) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", command)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		cmd.Stdin = bytes.NewReader(stdin)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return out, &shell.ExitError{Command: command, Status: failed.ExitCode(), Stderr: complaint.String()}
		}
		return out, err
	})
}

// Run starts a program of the store until the test ends, with the rights of a
// service account, given as namespace/name. It skips the test where the program
// has not been made.
func (a *API) Run(t testing.TB, program, account string, args ...string) *Process {
	t.Helper()
	file, err := newest(program)
	if err != nil {
		without(t, err)
	}
	namespace, name, _ := strings.Cut(account, "/")
	answer, err := a.Do(t.Context(), http.MethodPost, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+name+"/token",
		[]byte(`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := a.plane.file(program + ".kubeconfig")
	if err := a.writeKubeconfig(kubeconfig, fmt.Sprint(At(answer, "status", "token"))); err != nil {
		t.Fatal(err)
	}
	return a.plane.run(t, file, program, append(args, "--kubeconfig", kubeconfig)...)
}

// Memory is what each program of the control plane, and each that runs beside it,
// holds in memory now, in MiB, by name.
func (a *API) Memory() (map[string]int, error) {
	memory := map[string]int{}
	for name, process := range a.plane.processes {
		mib, err := process.MemoryMiB()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		memory[name] = mib
	}
	return memory, nil
}
