package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// FuzzLoad reads arbitrary text.
func FuzzLoad(f *testing.F) {
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	stacks, _ := filepath.Glob("../stacks/Pulumi.*.yaml")
	for _, file := range append(files, stacks...) {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	f.Fuzz(func(t *testing.T, text string) { loads(t, text) })
}

// FuzzValue reads a good file in which one value is another.
func FuzzValue(f *testing.F) {
	fuzzValue(f, "../stacks/Pulumi.example-onprem.yaml")
}

// FuzzKubernetesValue does so with a file for Kubernetes.
func FuzzKubernetesValue(f *testing.F) {
	fuzzValue(f, "../stacks/Pulumi.example-onprem-kubernetes.yaml")
}

func fuzzValue(f *testing.F, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for n := range lines {
		for _, value := range []string{"", "x", "{}", "&a [*a]"} {
			f.Add(uint16(n), value)
		}
	}
	f.Fuzz(func(t *testing.T, n uint16, value string) {
		changed := strings.Split(string(content), "\n")
		at := int(n) % len(changed)
		if before, _, ok := strings.Cut(changed[at], ": "); ok {
			changed[at] = before + ": " + value
		} else if before, _, ok := strings.Cut(changed[at], "- "); ok {
			changed[at] = before + "- " + value
		}
		loads(t, strings.Join(changed, "\n"))
	})
}

// loads loads a text and checks what must always hold: every problem has a
// place in the file, and an environment comes back only without errors; it is
// then valid and can be rendered.
func loads(t *testing.T, text string) {
	env, report := Load("f.yaml", []byte(text))
	if (env == nil) != report.Failed() {
		t.Fatalf("environment %v, but failed is %v", env != nil, report.Failed())
	}
	lines := strings.Count(text, "\n") + 1
	for _, p := range report.Problems {
		if p.Line < 1 || p.Line > lines+1 || p.Column < 1 || p.What == "" || p.Kind == "" || p.File != "f.yaml" {
			t.Errorf("not placed: %+v", p)
		}
	}
	if report.String() == "" && report.Failed() {
		t.Error("errors, but no report")
	}
	if env == nil {
		return
	}
	for _, p := range env.Validate() {
		if !p.Warning() {
			t.Errorf("loaded, but then found wrong: %s", p)
		}
	}
	if env.Kubernetes != nil {
		checkModel(t, env)
		return
	}
	if _, err := slurmconf.Render(env.SlurmCluster()); err != nil {
		t.Errorf("loaded, but not rendered: %v", err)
	}
}

// checkModel checks that the facts about a cluster are all there.
func checkModel(t *testing.T, env *Environment) {
	t.Helper()
	cluster := env.KubernetesCluster()
	if len(cluster.ControlPlanes)%2 != 1 || len(cluster.Workers) == 0 || cluster.Version == "" || cluster.Queueing == "" {
		t.Errorf("loaded, but the facts are not whole: %+v", cluster)
	}
	if _, err := netip.ParseAddrPort("[::1]:" + cluster.Endpoint[strings.LastIndexByte(cluster.Endpoint, ':')+1:]); err != nil {
		t.Errorf("loaded, but the API is at %q", cluster.Endpoint)
	}
	checkRendered(t, env)
	nominal := map[string]int{}
	for _, team := range cluster.Teams {
		for kind, quota := range team.GPUs {
			nominal[kind] += quota.Nominal
		}
	}
	for kind, sum := range nominal {
		if sum > cluster.GPUs[kind] {
			t.Errorf("loaded, but the teams have %d of %d GPUs of type %s", sum, cluster.GPUs[kind], kind)
		}
	}
}
