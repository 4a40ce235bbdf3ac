package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/blang/semver"
	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/integration"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/property"
)

const urn = resource.URN("urn:pulumi:test::project::command:local:Command::it")

// engine does to one Command what Pulumi's engine does.
type engine struct {
	t      *testing.T
	server integration.Server
	id     string
	state  property.Map
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	server, err := integration.NewServer(context.Background(), "command", semver.MustParse(version), integration.WithProvider(newProvider()))
	if err != nil {
		t.Fatal(err)
	}
	return &engine{t: t, server: server}
}

func (e *engine) check(inputs map[string]property.Value) property.Map {
	e.t.Helper()
	checked, err := e.server.Check(p.CheckRequest{Urn: urn, Inputs: property.NewMap(inputs)})
	if err != nil {
		e.t.Fatal(err)
	}
	if len(checked.Failures) > 0 {
		e.t.Fatalf("check: %v", checked.Failures)
	}
	return checked.Inputs
}

func (e *engine) create(inputs map[string]property.Value) error {
	e.t.Helper()
	response, err := e.server.Create(p.CreateRequest{Urn: urn, Properties: e.check(inputs)})
	if err == nil {
		e.id, e.state = response.ID, response.Properties
	}
	return err
}

func (e *engine) update(inputs map[string]property.Value) error {
	e.t.Helper()
	response, err := e.server.Update(p.UpdateRequest{ID: e.id, Urn: urn, State: e.state, Inputs: e.check(inputs)})
	if err == nil {
		e.state = response.Properties
	}
	return err
}

func (e *engine) delete() error {
	return e.server.Delete(p.DeleteRequest{ID: e.id, Urn: urn, Properties: e.state})
}

func (e *engine) output(name string) string {
	e.t.Helper()
	value, ok := e.state.GetOk(name)
	if !ok || !value.IsString() {
		e.t.Fatalf("output %s is %v", name, value)
	}
	return value.AsString()
}

func text(s string) property.Value { return property.New(s) }

func list(members ...string) property.Value {
	values := make([]property.Value, len(members))
	for i, member := range members {
		values[i] = text(member)
	}
	return property.New(values)
}

func dict(pairs map[string]property.Value) property.Value {
	return property.New(property.NewMap(pairs))
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]struct {
		inputs     map[string]property.Value
		wantStdout string
		wantStderr string
	}{
		"runs the command": {
			inputs:     map[string]property.Value{"create": text("echo out; echo err >&2")},
			wantStdout: "out", wantStderr: "err",
		},
		"runs nothing without a command": {
			inputs: map[string]property.Value{"update": text("echo no"), "delete": text("echo no")},
		},
		"trims one newline": {
			inputs:     map[string]property.Value{"create": text(`printf 'a\n\n'`)},
			wantStdout: "a\n",
		},
		"gives standard input": {
			inputs:     map[string]property.Value{"create": text("cat"), "stdin": text("line 1\nline 2")},
			wantStdout: "line 1\nline 2",
		},
		"gives the environment beside the plugin's own": {
			inputs: map[string]property.Value{
				"create":      text(`echo "$GREETING ${PATH:+path}"`),
				"environment": dict(map[string]property.Value{"GREETING": text("hello world")}),
			},
			wantStdout: "hello world path",
		},
		"has no previous output": {
			inputs:     map[string]property.Value{"create": text(`echo "${PULUMI_COMMAND_STDOUT-unset}"`)},
			wantStdout: "unset",
		},
		"runs in dir": {
			inputs:     map[string]property.Value{"create": text("pwd"), "dir": text(dir)},
			wantStdout: dir,
		},
		"uses the interpreter": {
			inputs:     map[string]property.Value{"create": text("a b"), "interpreter": list("printf", "<%s>")},
			wantStdout: "<a b>",
		},
		"captures what it does not show": {
			inputs:     map[string]property.Value{"create": text("echo out; echo err >&2"), "logging": text("none")},
			wantStdout: "out", wantStderr: "err",
		},
		"carries more than a pipe holds": {
			inputs: map[string]property.Value{
				"create": text("cat; cat /dev/null"), "stdin": text(strings.Repeat("x", 1<<20)), "logging": text("stderr"),
			},
			wantStdout: strings.Repeat("x", 1<<20),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			if err := e.create(c.inputs); err != nil {
				t.Fatal(err)
			}
			if got := e.output("stdout"); got != c.wantStdout {
				t.Errorf("stdout %.80q, want %.80q", got, c.wantStdout)
			}
			if got := e.output("stderr"); got != c.wantStderr {
				t.Errorf("stderr %q, want %q", got, c.wantStderr)
			}
			if !strings.HasPrefix(e.id, "it") {
				t.Errorf("the id %q does not begin with the resource's name", e.id)
			}
		})
	}
}

func TestCreateFails(t *testing.T) {
	cases := map[string]struct {
		inputs map[string]property.Value
		want   []string // what the error says
	}{
		"with the status and all that was written": {
			inputs: map[string]property.Value{"create": text("echo out; echo err >&2; exit 3")},
			want:   []string{"exit status 3", `running "echo out; echo err >&2; exit 3"`, "out", "err"},
		},
		"when the folder is missing": {
			inputs: map[string]property.Value{"create": text("true"), "dir": text("/does/not/exist")},
			want:   []string{"/does/not/exist", "no such file"},
		},
		"when the interpreter is missing": {
			inputs: map[string]property.Value{"create": text("true"), "interpreter": list("no-such-program")},
			want:   []string{"no-such-program", "not found"},
		},
		"when a glob is wrong": {
			inputs: map[string]property.Value{"create": text("true"), "assetPaths": list("[")},
			want:   []string{"assetPaths", `"["`},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := newEngine(t).create(c.inputs)
			if err == nil {
				t.Fatal("it did not fail")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, inputs := range map[string]map[string]property.Value{
		"a number as command":  {"create": property.New(1.0)},
		"a text as stdin list": {"stdin": list("a")},
	} {
		t.Run(name, func(t *testing.T) {
			checked, err := newEngine(t).server.Check(p.CheckRequest{Urn: urn, Inputs: property.NewMap(inputs)})
			if err == nil && len(checked.Failures) == 0 {
				t.Error("it was accepted")
			}
		})
	}
}

func TestUpdate(t *testing.T) {
	cases := map[string]struct {
		before, after map[string]property.Value
		want          string // stdout afterwards
	}{
		"runs update": {
			before: map[string]property.Value{"create": text("echo created")},
			after:  map[string]property.Value{"create": text("echo created"), "update": text("echo updated")},
			want:   "updated",
		},
		"runs create where there is no update": {
			before: map[string]property.Value{"create": text("echo 1")},
			after:  map[string]property.Value{"create": text("echo 2")},
			want:   "2",
		},
		"keeps the outputs where there is neither": {
			before: map[string]property.Value{"create": text("echo 1")},
			after:  map[string]property.Value{},
			want:   "1",
		},
		"finds the previous output": {
			before: map[string]property.Value{"create": text("echo out; echo err >&2")},
			after:  map[string]property.Value{"update": text(`echo "$PULUMI_COMMAND_STDOUT $PULUMI_COMMAND_STDERR"`)},
			want:   "out err",
		},
		"finds no previous output when told so": {
			before: map[string]property.Value{"create": text("echo out")},
			after: map[string]property.Value{
				"update":                 text(`echo "${PULUMI_COMMAND_STDOUT-unset}"`),
				"addPreviousOutputInEnv": property.New(false),
			},
			want: "unset",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			if err := e.create(c.before); err != nil {
				t.Fatal(err)
			}
			if err := e.update(c.after); err != nil {
				t.Fatal(err)
			}
			if got := e.output("stdout"); got != c.want {
				t.Errorf("stdout %q, want %q", got, c.want)
			}
		})
	}
}

func TestUpdateThatFailsKeepsTheState(t *testing.T) {
	e := newEngine(t)
	if err := e.create(map[string]property.Value{"create": text("echo 1")}); err != nil {
		t.Fatal(err)
	}
	if err := e.update(map[string]property.Value{"create": text("echo 2; false")}); err == nil {
		t.Fatal("the update did not fail")
	}
	if got := e.output("stdout"); got != "1" {
		t.Errorf("stdout %q after the failure, want the one before", got)
	}
}

func TestDelete(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	e := newEngine(t)
	inputs := map[string]property.Value{
		"create": text("echo made"),
		"delete": text(`echo "$PULUMI_COMMAND_STDOUT and $WHO and $(cat)" >` + witness),
		"stdin":  text("stdin"), "environment": dict(map[string]property.Value{"WHO": text("me")}),
	}
	if err := e.create(inputs); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(witness); err == nil {
		t.Fatal("delete ran at creation")
	}
	if err := e.delete(); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(witness)
	if err != nil {
		t.Fatal(err)
	}
	if want := "made and me and stdin\n"; string(got) != want {
		t.Errorf("delete saw %q, want %q", got, want)
	}
}

func TestDeleteFailsWithItsCommand(t *testing.T) {
	e := newEngine(t)
	if err := e.create(map[string]property.Value{"delete": text("echo busy; exit 1")}); err != nil {
		t.Fatal(err)
	}
	if err := e.delete(); err == nil || !strings.Contains(err.Error(), "busy") {
		t.Errorf("error %v, want one that says busy", err)
	}
}

func TestDeleteWithoutCommandDoesNothing(t *testing.T) {
	e := newEngine(t)
	if err := e.create(map[string]property.Value{"create": text("true")}); err != nil {
		t.Fatal(err)
	}
	if err := e.delete(); err != nil {
		t.Error(err)
	}
}

func TestPreviewRunsNothing(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	e := newEngine(t)
	inputs := e.check(map[string]property.Value{"create": text("touch " + witness)})
	created, err := e.server.Create(p.CreateRequest{Urn: urn, Properties: inputs, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if value := created.Properties.Get("stdout"); !value.IsComputed() {
		t.Errorf("stdout is %v in a preview, want unknown", value)
	}
	unknown := property.NewMap(map[string]property.Value{"create": property.New(property.Computed)})
	if _, err := e.server.Create(p.CreateRequest{Urn: urn, Properties: unknown, DryRun: true}); err != nil {
		t.Errorf("preview with an unknown command: %v", err)
	}
	state := property.NewMap(map[string]property.Value{"create": text("true"), "stdout": text("old"), "stderr": text("")})
	updated, err := e.server.Update(p.UpdateRequest{ID: "it", Urn: urn, State: state, Inputs: inputs, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if value := updated.Properties.Get("stdout"); !value.IsComputed() {
		t.Errorf("stdout is %v in the preview of an update, want unknown", value)
	}
	if _, err := os.Stat(witness); err == nil {
		t.Error("a preview ran the command")
	}
}

func TestDiff(t *testing.T) {
	cases := map[string]struct {
		after map[string]property.Value
		want  p.DiffKind // of the property that changed; empty: no change
		key   string
	}{
		"nothing changed": {after: map[string]property.Value{"create": text("true"), "triggers": list("1")}},
		"a command updates": {
			after: map[string]property.Value{"create": text("false"), "triggers": list("1")}, want: p.Update, key: "create",
		},
		"an added input updates": {
			after: map[string]property.Value{"create": text("true"), "triggers": list("1"), "stdin": text("x")}, want: p.Add, key: "stdin",
		},
		"a trigger updates; it is the SDK that asks for a replacement": {
			after: map[string]property.Value{"create": text("true"), "triggers": list("2")}, want: p.Update, key: "triggers[0]",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			if err := e.create(map[string]property.Value{"create": text("true"), "triggers": list("1")}); err != nil {
				t.Fatal(err)
			}
			diff, err := e.server.Diff(p.DiffRequest{ID: e.id, Urn: urn, State: e.state, Inputs: e.check(c.after)})
			if err != nil {
				t.Fatal(err)
			}
			if diff.HasChanges != (c.want != "") {
				t.Errorf("has changes: %v, want %v", diff.HasChanges, c.want != "")
			}
			if got := diff.DetailedDiff[c.key].Kind; got != c.want {
				t.Errorf("the change of %q is %q, want %q (%v)", c.key, got, c.want, diff.DetailedDiff)
			}
		})
	}
}

func TestSecretsStaySecret(t *testing.T) {
	e := newEngine(t)
	secret := text("hunter2").WithSecret(true)
	err := e.create(map[string]property.Value{
		"create":      text(`echo "$PASSWORD"`),
		"environment": dict(map[string]property.Value{"PASSWORD": secret}),
		"dir":         text("."),
	})
	if err != nil {
		t.Fatal(err)
	}
	if value := e.state.Get("environment").AsMap().Get("PASSWORD"); !value.Secret() {
		t.Errorf("the environment's secret is in the clear: %v", value)
	}
	// What a command prints is not taken for a secret: a program that prints one marks the output with AdditionalSecretOutputs.
	for _, name := range []string{"stdout", "create"} {
		if value := e.state.Get(name); value.HasSecrets() {
			t.Errorf("%s became a secret", name)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	e := newEngine(t)
	err := e.create(map[string]property.Value{
		"create":       text("mkdir -p a/b; echo 1 >a/1.txt; echo 2 >a/b/2.txt; echo 3 >a/b/3.md; echo 4 >secret.txt"),
		"dir":          text(dir),
		"assetPaths":   list("**.txt", "!secret*"),
		"archivePaths": list("a/*.txt"),
	})
	if err != nil {
		t.Fatal(err)
	}
	assets := e.state.Get("assets").AsMap().AsMap()
	if len(assets) != 2 {
		t.Errorf("assets %v, want a/1.txt and a/b/2.txt", assets)
	}
	for _, name := range []string{"a/1.txt", "a/b/2.txt"} {
		if got := assets[name].AsMap().Get("path").AsString(); got != filepath.Join(dir, name) {
			t.Errorf("asset %s is at %q", name, got)
		}
	}
	members := e.state.Get("archive").AsMap().Get("assets").AsMap().AsMap()
	if _, ok := members["a/1.txt"]; !ok || len(members) != 1 {
		t.Errorf("archive %v, want a/1.txt", members)
	}
}

func TestRun(t *testing.T) {
	e := newEngine(t)
	response, err := e.server.Invoke(p.InvokeRequest{Token: "command:local:run", Args: property.NewMap(map[string]property.Value{
		"command": text("cat; echo err >&2"), "stdin": text("in"),
	})})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"stdout": "in", "stderr": "err", "command": "cat; echo err >&2", "stdin": "in"} {
		if got := response.Return.Get(name); !got.IsString() || got.AsString() != want {
			t.Errorf("%s is %v, want %q", name, got, want)
		}
	}
	if _, err := e.server.Invoke(p.InvokeRequest{Token: "command:local:run", Args: property.NewMap(map[string]property.Value{
		"command": text("echo no luck; exit 4"),
	})}); err == nil || !strings.Contains(err.Error(), "exit status 4") || !strings.Contains(err.Error(), "no luck") {
		t.Errorf("error %v, want the status and what was written", err)
	}
}
