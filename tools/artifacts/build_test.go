package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// small is a table like the lab's, of programs that are a text.
var small = artifacts.Table{
	Programs: []artifacts.Program{{Name: "hyper", Set: "one", Package: "."}, {Name: "etcd", Set: "two", Package: "."}},
	Images: []artifacts.Image{
		{Name: "registry.k8s.io/kube-apiserver:v1", Entrypoint: []string{"kube-apiserver"},
			Layers: []artifacts.Layer{{Program: "hyper", Path: "/usr/local/bin/hyper", Links: []string{"kube-apiserver", "kube-proxy"}}}},
		{Name: "registry.k8s.io/kube-proxy:v1", Entrypoint: []string{"kube-proxy"},
			Layers: []artifacts.Layer{{Program: "hyper", Path: "/usr/local/bin/hyper", Links: []string{"kube-apiserver", "kube-proxy"}}}},
		{Name: "artifacts:5000/some/etcd:2", Layers: []artifacts.Layer{{Program: "etcd", Path: "/etcd"}}, User: "65532:65532"},
	},
	Binaries: []artifacts.Binary{{Name: "kubelet", Version: "v1", Program: "hyper"}, {Name: "kubeadm", Version: "v1", Program: "hyper"}},
}

// workshop is a builder whose compiler counts what it is asked for.
type workshop struct {
	builder
	compiled []string
	said     bytes.Buffer
	fails    bool
}

func newWorkshop(t *testing.T, table artifacts.Table) *workshop {
	t.Helper()
	w := &workshop{}
	w.builder = builder{store: filepath.Join(t.TempDir(), "store"), tools: t.TempDir(), table: table, progress: &w.said, compile: w.fake}
	for _, set := range []string{"one", "two"} {
		w.change(t, set, "go.mod", "module "+set)
	}
	return w
}

func (w *workshop) change(t *testing.T, set, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(w.tools, set), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.tools, set, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w *workshop) fake(_ context.Context, _ string, p artifacts.Program, file string) ([]byte, error) {
	w.compiled = append(w.compiled, p.Name)
	if w.fails {
		return []byte("main.go:1: nonsense\n"), errors.New("exit status 1")
	}
	return nil, os.WriteFile(file, []byte("the program "+p.Name), 0o755)
}

func (w *workshop) run(t *testing.T) (compiled []string, current string) {
	t.Helper()
	w.compiled = nil
	if err := w.build(t.Context()); err != nil {
		t.Fatal(err)
	}
	current, err := os.Readlink(filepath.Join(w.store, artifacts.Current))
	if err != nil {
		t.Fatal(err)
	}
	return w.compiled, current
}

// TestOnlyWhatChangedIsMade follows a store through changes of its pins.
func TestOnlyWhatChangedIsMade(t *testing.T) {
	w := newWorkshop(t, small)
	_, first := w.run(t)
	for _, step := range []struct {
		title    string
		do       func()
		compiled []string
		same     bool
	}{
		{"nothing changed", func() {}, nil, true},
		{"a test changed", func() { w.change(t, "one", "main_test.go", "package main") }, nil, true},
		{"a source appeared", func() { w.change(t, "two", "main.go", "package main") }, []string{"etcd"}, false},
		{"it went again", func() { os.Remove(filepath.Join(w.tools, "two", "main.go")) }, nil, true},
		{"a pin changed", func() { w.change(t, "one", "go.sum", "other") }, []string{"hyper"}, false},
		{"back", func() { os.Remove(filepath.Join(w.tools, "one", "go.sum")) }, nil, true},
		{"the version is gone", func() { os.RemoveAll(filepath.Join(w.store, first)) }, nil, true},
		{"the link is gone", func() { os.Remove(filepath.Join(w.store, artifacts.Current)) }, nil, true},
	} {
		step.do()
		compiled, current := w.run(t)
		if !slices.Equal(compiled, step.compiled) || (current == first) != step.same {
			t.Errorf("%s: compiles %q, and then %s is current; it was %s", step.title, compiled, current, first)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(w.store, "*", "*.new")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

func TestAFailedBuildChangesNothing(t *testing.T) {
	w := newWorkshop(t, small)
	_, first := w.run(t)
	w.change(t, "two", "go.sum", "other")
	w.fails = true
	err := w.build(t.Context())
	if err == nil || !strings.Contains(err.Error(), "main.go:1: nonsense") || !strings.Contains(err.Error(), "tools/two/go.mod") {
		t.Errorf("it says %v", err)
	}
	if current, _ := os.Readlink(filepath.Join(w.store, artifacts.Current)); current != first {
		t.Errorf("%s is current after a failure; it was %s", current, first)
	}
}

func TestWhatNothingAsksForGoes(t *testing.T) {
	w := newWorkshop(t, small)
	_, first := w.run(t)
	w.change(t, "two", "go.sum", "other")
	w.run(t)
	old := time.Now().Add(-unused - time.Hour)
	programs, err := filepath.Glob(filepath.Join(w.store, "programs", "*"))
	if err != nil || len(programs) != 3 {
		t.Fatalf("the programs are %q, %v", programs, err)
	}
	killed := filepath.Join(w.store, "versions", "0123"+fresh)
	if err := os.Mkdir(killed, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range append(programs, filepath.Join(w.store, first)) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	w.run(t) // what is up to date is in use
	w.change(t, "two", "go.sum", "a third")
	w.run(t)
	programs, _ = filepath.Glob(filepath.Join(w.store, "programs", "*"))
	if len(programs) != 3 || exists(filepath.Join(w.store, first)) || exists(killed) {
		t.Errorf("left are %q; the first version: %v, what a killed run left: %v", programs, exists(filepath.Join(w.store, first)), exists(killed))
	}
}

func TestRunsAtOnceBuildOnce(t *testing.T) {
	w := newWorkshop(t, small)
	w.progress = io.Discard
	done := make(chan error, 2)
	for range 2 {
		go func() { done <- w.build(t.Context()) }()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(w.compiled) != len(small.Programs) {
		t.Errorf("two runs compile %q", w.compiled)
	}
}

func TestBinariesMatchTheirSums(t *testing.T) {
	w := newWorkshop(t, small)
	_, current := w.run(t)
	folder := filepath.Join(w.store, current, artifacts.BinariesFolder, "v1")
	cmd := exec.Command("sha256sum", "-c", "SHA256SUMS")
	cmd.Dir = folder
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "kubelet: OK\nkubeadm: OK\n" {
		t.Errorf("%v: %s", err, out)
	}
	info, err := os.Stat(filepath.Join(folder, "kubelet"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("kubelet is %v, %v", info, err)
	}
}

func TestChartsAreAsReleased(t *testing.T) {
	chart := t.TempDir()
	for name, text := range map[string]string{"Chart.yaml": "name: q\nversion: 0.1.0\n", "values.yaml": "a: staging\nb: staging\n", "tests/x.yaml": "x", "templates/y.yaml": "y"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(chart, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(chart, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := artifacts.Chart{Name: "q", Version: "1.0.0", Values: []artifacts.Replacement{{Old: "staging\n", New: "released\n"}}, Metadata: []artifacts.Replacement{{Old: "0.1.0\n", New: "1.0.0\n"}}}
	packed, err := packChart(c, chart)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("tar", "-xzO", "--show-transformed-names", "-v", "-f", "-")
	cmd.Stdin = bytes.NewReader(packed)
	var names bytes.Buffer
	cmd.Stderr = &names
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if want := "q/Chart.yaml\nq/templates/y.yaml\nq/values.yaml\n"; names.String() != want {
		t.Errorf("it holds %q, want %q", names.String(), want)
	}
	if want := "name: q\nversion: 1.0.0\nya: released\nb: staging\n"; string(text) != want {
		t.Errorf("its files say %q, want %q", text, want)
	}
	c.Values[0].Old = "gone"
	if _, err := packChart(c, chart); err == nil || !strings.Contains(err.Error(), `values.yaml has no "gone"`) {
		t.Errorf("values that are not there: %v", err)
	}
}

func TestLinkFlags(t *testing.T) {
	p := artifacts.Program{Stamps: map[string]string{"b.V": "2", "a.V": "1"}}
	if got, want := linkFlags(p), "-s -w -X a.V=1 -X b.V=2"; got != want {
		t.Errorf("the flags are %q, want %q", got, want)
	}
	p.C = true
	if got, want := linkFlags(p), "-s -w -extldflags -static -X a.V=1 -X b.V=2"; got != want {
		t.Errorf("with C in it the flags are %q, want %q", got, want)
	}
}

// TestCommandLine checks what is refused before anything is done.
func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{nil, {"push"}, {"build", "more"}, {"serve", "--store"}, {"build", "--store", t.TempDir(), "--tools", "/nowhere"}} {
		if err := run(t.Context(), args); err == nil {
			t.Errorf("artifacts %s is accepted", fmt.Sprint(args))
		}
	}
}

// TestProgramsOfTests checks that they are made once, kept beside the others, and are in no version.
func TestProgramsOfTests(t *testing.T) {
	w := newWorkshop(t, small)
	_, before := w.run(t)
	w.table = artifacts.Table{Programs: []artifacts.Program{{Name: "player", Set: "two", Package: "./player"}}}
	for _, want := range [][]string{{"player"}, nil} {
		w.compiled = nil
		if err := w.buildPrograms(t.Context()); err != nil || !slices.Equal(w.compiled, want) {
			t.Errorf("compiled %q, %v, want %q", w.compiled, err, want)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(w.store, "programs", "player-*")); len(found) != 1 {
		t.Errorf("the program is at %q", found)
	}
	w.table = small
	if compiled, after := w.run(t); len(compiled) > 0 || after != before {
		t.Errorf("compiled %q again, and %s became %s", compiled, before, after)
	}
}

// TestPinsApart checks that a program with pins of its own in a shared folder is
// made again when those change, and no other.
func TestPinsApart(t *testing.T) {
	table := small
	table.Programs = append(slices.Clone(small.Programs), artifacts.Program{Name: "hyper-next", Set: "one", Pins: "next", Package: "."})
	w := newWorkshop(t, table)
	w.change(t, "one", "next.mod", "module one // newer")
	w.run(t)
	for _, step := range []struct {
		file     string
		compiled []string
	}{{"next.sum", []string{"hyper-next"}}, {"go.sum", []string{"hyper"}}, {"main.go", []string{"hyper", "hyper-next"}}} {
		w.change(t, "one", step.file, "other")
		if compiled, _ := w.run(t); !slices.Equal(compiled, step.compiled) {
			t.Errorf("after a change of %s it compiles %q, want %q", step.file, compiled, step.compiled)
		}
	}
	if err := os.Remove(filepath.Join(w.tools, "one", "next.mod")); err != nil {
		t.Fatal(err)
	}
	if err := w.build(t.Context()); err == nil || !strings.Contains(err.Error(), "has no next.mod") {
		t.Errorf("without its pins: %v", err)
	}
}
