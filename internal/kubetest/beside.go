package kubetest

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
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
