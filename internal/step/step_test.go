package step

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

type greeting struct {
	Name string `json:"name"`
}

func registry(log *[]string) Registry {
	return Registry{{
		Name: "greet", Title: "Greet",
		Apply: func(_ context.Context, in *Input) (any, error) {
			var spec greeting
			if err := in.Spec(&spec); err != nil {
				return nil, err
			}
			in.Logf("greeting %s", spec.Name)
			return Ready(spec.Name, in.Secret("WORD")+" <"+spec.Name+">"), nil
		},
		Remove: func(_ context.Context, in *Input) error {
			var spec greeting
			if err := in.SpecLoosely(&spec); err != nil {
				return err
			}
			*log = append(*log, "removed "+spec.Name)
			return nil
		},
		Probe: func(context.Context, *Input) error { return errors.New("unwell") },
	}, {Name: "bare", Apply: func(context.Context, *Input) (any, error) { return nil, errors.New("broken") }}}
}

func TestRun(t *testing.T) {
	cases := map[string]struct {
		name      string
		op        Operation
		spec      string
		wantOut   string
		wantErr   string
		wantCalls string
	}{
		"apply":                       {"greet", OperationApply, `{"name":"a"}`, `{"host":"a","status":"ready","detail":"hello <a>"}` + "\n", "", ""},
		"apply refuses unknown field": {"greet", OperationApply, `{"name":"a","x":1}`, "", `unknown field "x"`, ""},
		"apply refuses no spec":       {"greet", OperationApply, ``, "", "reading the step's spec", ""},
		"apply fails":                 {"bare", OperationApply, `{}`, "", "broken", ""},
		"remove":                      {"greet", OperationRemove, `{"name":"a"}`, "", "", "removed a"},
		"remove passes over unknown":  {"greet", OperationRemove, `{"name":"a","x":1}`, "", "", "removed a"},
		"remove without a removal":    {"bare", OperationRemove, `{}`, "", "", ""},
		"probe":                       {"greet", OperationProbe, `{}`, "", "unwell", ""},
		"probe without a probe":       {"bare", OperationProbe, `{}`, "", "", ""},
		"unknown step":                {"gret", OperationApply, `{}`, "", `no step is called "gret"; the steps are greet, bare`, ""},
		"unknown operation":           {"greet", "aply", `{}`, "", `"aply" is no operation`, ""},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			var calls []string
			var out bytes.Buffer
			env := map[string]string{EnvSecretPrefix + "WORD": "hello"}
			in := NewInput([]byte(c.spec), func(n string) string { return env[n] }, io.Discard)
			err := registry(&calls).Run(context.Background(), c.name, c.op, in, &out)
			if (err == nil) != (c.wantErr == "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
				t.Errorf("error %v, want %q", err, c.wantErr)
			}
			if out.String() != c.wantOut {
				t.Errorf("wrote %q, want %q", out.String(), c.wantOut)
			}
			if got := strings.Join(calls, ","); got != c.wantCalls {
				t.Errorf("calls %q, want %q", got, c.wantCalls)
			}
		})
	}
}

func TestNameOf(t *testing.T) {
	for command, want := range map[string]string{
		ApplyCommand("lab-host"):  "lab-host",
		RemoveCommand("lab-host"): "",
		"echo hello":              "",
		"":                        "",
	} {
		got, ok := NameOf(command)
		if !ok {
			got = ""
		}
		if got != want || ok != (want != "") {
			t.Errorf("NameOf(%q) = %q, %v; want %q", command, got, ok, want)
		}
	}
}

func TestReadOutcome(t *testing.T) {
	for text, want := range map[string]bool{
		`{"host":"a","status":"ready"}`:                          true,
		`{"host":"a","status":"quarantined","reason":"no disk"}`: true,
		`{"status":"ready"}`:                                     false,
		`{"host":"a"}`:                                           false,
		`[]`:                                                     false,
		``:                                                       false,
	} {
		if _, ok := ReadOutcome(text); ok != want {
			t.Errorf("ReadOutcome(%q) says %v, want %v", text, ok, want)
		}
	}
}

func TestPrevious(t *testing.T) {
	for text, want := range map[string]struct {
		known bool
		fails bool
	}{``: {}, `{"name":"a"}`: {known: true}, `not JSON`: {fails: true}} {
		in := NewInput(nil, func(string) string { return text }, io.Discard)
		var v greeting
		known, err := in.Previous(&v)
		if known != want.known || (err != nil) != want.fails {
			t.Errorf("Previous of %q: known %v, error %v", text, known, err)
		}
	}
}

func TestCheckToolkit(t *testing.T) {
	for declared, wantErr := range map[string]bool{"": false, "same": false, "other": true} {
		in := NewInput(nil, func(string) string { return declared }, io.Discard)
		if err := in.checkToolkit("same"); (err != nil) != wantErr {
			t.Errorf("declared %q: error %v, want one: %v", declared, err, wantErr)
		}
	}
}
