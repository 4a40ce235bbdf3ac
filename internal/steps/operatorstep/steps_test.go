package operatorstep

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/helmchart"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// input is a step's, with the kubeconfig of an API server.
func input(t *testing.T, spec any, kubeconfig, charts string) (*step.Input, *strings.Builder) {
	t.Helper()
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	log := &strings.Builder{}
	return step.NewInput(text, func(entry string) string {
		switch entry {
		case step.EnvSecretPrefix + SecretKubeconfig:
			return kubeconfig
		case EnvCharts:
			return charts
		}
		return ""
	}, log), log
}

// kind is a definition of things of example.org, whose spec has a field.
func kind(field string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.org"},"spec":{"group":"example.org","scope":"Cluster",
		"names":{"kind":"Thing","plural":"things","singular":"thing","listKind":"ThingList"},"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{
		"type":"object","properties":{"spec":{"type":"object","properties":{"` + field + `":{"type":"string"}}},"status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}]}}`
}

// chart writes the archive of a chart with one definition, and returns its folder.
func chart(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	archive := tar.NewWriter(packed)
	if err := archive.WriteHeader(&tar.Header{Name: "c/crds/thing.yaml", Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(archive.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "c-1.tgz"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// TestRealServer does each step at a real API server: definitions are renewed where
// older ones are there, an operator's words are passed on until it is ready, and
// kinds are found or missed.
func TestRealServer(t *testing.T) {
	pause = 10 * time.Millisecond
	api := kubetest.Start(t)
	text, err := os.ReadFile(api.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := string(text)
	t.Run("TestCaseK67", func(t *testing.T) {
		spec := DefinitionsSpec{Chart: helmchart.Source{Name: "c", Version: "1"}}
		for _, field := range []string{"old", "new", "new"} {
			in, _ := input(t, spec, kubeconfig, chart(t, kind(field)))
			result, err := define(t.Context(), in)
			if err != nil || len(result.(DefinitionsResult).Names) != 1 {
				t.Fatalf("%v, %v", result, err)
			}
			if err := api.Try(t.Context(), []byte(`{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"`+field+`":"x"}}`)); err != nil {
				api.Soon(t, func() error {
					return api.Try(t.Context(), []byte(`{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"`+field+`":"x"}}`))
				})
			}
		}
		in, _ := input(t, spec, kubeconfig, chart(t, strings.Replace(kind("a"), `"scope":"Cluster"`, `"scope":"Everywhere"`, 1)))
		if _, err := define(t.Context(), in); err == nil || !strings.Contains(err.Error(), "defining things.example.org") {
			t.Errorf("a definition that the API refuses: %v", err)
		}
	})
	t.Run("TestCaseK21", func(t *testing.T) { caseK21(t, api, kubeconfig) })
	t.Run("TestCaseK52", func(t *testing.T) { caseK52(t, api, kubeconfig) })
	t.Run("TestCaseK56", func(t *testing.T) { caseK56(t, api, kubeconfig) })
	t.Run("TestCaseK19", func(t *testing.T) { caseK19(t, api, kubeconfig) })
	t.Run("a run was cut off at a release", func(t *testing.T) { releaseCutOff(t, api, kubeconfig) })
	// A kind that nobody has defined is found missing before anything needs it.
	t.Run("TestCaseK49", func(t *testing.T) {
		for plural, want := range map[string]string{"things": "", "monitors": "the cluster has no monitors of example.org/v1: do without"} {
			in, _ := input(t, KindsSpec{Version: "example.org/v1", Plurals: []string{plural}, Hint: "do without"}, kubeconfig, "")
			_, err := kinds(t.Context(), in)
			if probed := probeKinds(t.Context(), in); (err == nil) != (want == "") || (probed == nil) != (want == "") || err != nil && err.Error() != want {
				t.Errorf("%s: %v, the probe says %v", plural, err, probed)
			}
		}
		in, _ := input(t, KindsSpec{Version: "none.example.org/v1", Plurals: []string{"monitors"}, Hint: "do without"}, kubeconfig, "")
		if _, err := kinds(t.Context(), in); err == nil || err.Error() != "the cluster has no monitors of none.example.org/v1: do without" {
			t.Errorf("an unknown group: %v", err)
		}
	})
}

// caseK21 passes an operator's words on until it says itself that its work is done: that
// its objects are made, or its pods run, is not enough.
func caseK21(t *testing.T, api *kubetest.API, kubeconfig string) {
	const path = "/apis/example.org/v1/things/t"
	spec := ReadySpec{Statuses: []Status{{path, "Thing"}}, Admitted: []Attempt{{"/apis/example.org/v1/things", json.RawMessage(`{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"t"}}`)}}, Limit: "30ms"}
	fails := func(what, want string) {
		t.Helper()
		in, _ := input(t, spec, kubeconfig, "")
		if _, err := ready(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if err := probeReady(t.Context(), in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the probe says %v, want %q", what, err, want)
		}
	}
	say := func(status string) {
		t.Helper()
		if _, err := api.Do(t.Context(), http.MethodPatch, path+"/status", []byte(`{"status":`+status+`}`)); err != nil {
			t.Fatal(err)
		}
	}
	fails("no object", "answers 404")
	if _, err := api.Create(t.Context(), []byte(`{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"t"}}`)); err != nil {
		t.Fatal(err)
	}
	fails("no status", "the Thing is not yet looked at")
	say(`{"state":"notReady","conditions":[{"type":"Error","status":"True","message":"the driver does not load"}]}`)
	fails("not ready", "the Thing is notReady: the driver does not load")
	spec.Limit = "1m"
	in, log := input(t, spec, kubeconfig, "")
	done := make(chan error, 1)
	go func() {
		_, err := ready(t.Context(), in)
		done <- err
	}()
	time.Sleep(100 * time.Millisecond)
	say(`{"state":"ready"}`)
	if err := <-done; err != nil || strings.Count(log.String(), "the driver does not load") != 1 {
		t.Errorf("%v after\n%s", err, log)
	}
	if err := probeReady(t.Context(), in); err != nil {
		t.Errorf("the probe says %v", err)
	}
}

// TestWaitingEnds checks that what waiting does not change is told at once.
func TestWaitingEnds(t *testing.T) {
	in, _ := input(t, ReadySpec{Limit: "soon"}, "{}", "")
	if _, err := ready(t.Context(), in); err == nil || !strings.Contains(err.Error(), "reading the limit") {
		t.Errorf("a limit that is none: %v", err)
	}
	for name, work := range map[string]func() error{
		"ready": func() error {
			in, _ := input(t, ReadySpec{Limit: "1m"}, "{}", "")
			_, err := ready(t.Context(), in)
			return err
		},
		"definitions": func() error {
			in, _ := input(t, DefinitionsSpec{}, "{}", "")
			_, err := define(t.Context(), in)
			return err
		},
		"kinds": func() error { in, _ := input(t, KindsSpec{}, "{}", ""); _, err := kinds(t.Context(), in); return err },
	} {
		if err := work(); err == nil || !strings.Contains(err.Error(), "leads to no server") {
			t.Errorf("%s without a kubeconfig: %v", name, err)
		}
	}
}
