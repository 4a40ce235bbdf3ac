// Package commandplugin runs real stacks on the stand-in for Pulumi's command plugin.
package commandplugin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/auto"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/events"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optdestroy"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

// canary is a secret that must not be seen in the clear.
const canary = "canary-7c1f9a"

// pluginDir is where buildPlugin put the plugin; empty before.
var pluginDir string

var buildPlugin = sync.OnceValue(func() (err error) {
	if pluginDir, err = os.MkdirTemp("", "commandplugin"); err != nil {
		return err
	}
	build := exec.Command("go", "build", "-C", "../../tools/pulumi-resource-command", "-buildvcs=false",
		"-o", filepath.Join(pluginDir, "pulumi-resource-command"), ".")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the plugin: %w\n%s", err, output)
	}
	return nil
})

func TestMain(m *testing.M) {
	status := m.Run()
	if pluginDir != "" {
		_ = os.RemoveAll(pluginDir)
	}
	os.Exit(status)
}

// newStack returns an empty stack in a folder of its own, served by the stand-in. The program may be changed
// between runs.
func newStack(t *testing.T, program *pulumi.RunFunc) auto.Stack {
	t.Helper()
	if _, err := exec.LookPath("pulumi"); err != nil {
		t.Skip("pulumi is not on PATH; make tools builds it")
	}
	if err := buildPlugin(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	state := filepath.Join(dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", pluginDir+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx := context.Background()
	stack, err := auto.NewStackInlineSource(ctx, "test", "command", func(ctx *pulumi.Context) error { return (*program)(ctx) },
		auto.WorkDir(dir),
		auto.PulumiHome(filepath.Join(dir, "home")),
		auto.EnvVars(map[string]string{
			"PULUMI_BACKEND_URL":       "file://" + state,
			"PULUMI_CONFIG_PASSPHRASE": "correct horse",
			"PULUMI_SKIP_UPDATE_CHECK": "true",
		}))
	if err != nil {
		t.Fatal(err)
	}
	return stack
}

func TestPulumiUpUpdateDestroy(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	var program pulumi.RunFunc
	define := func(stdin, trigger string) {
		program = func(ctx *pulumi.Context) error {
			command, err := local.NewCommand(ctx, "greet", &local.CommandArgs{
				Create: pulumi.String("echo created $(cat) ${#PASSWORD}"),
				Update: pulumi.String(`echo "updated $(cat) after $PULUMI_COMMAND_STDOUT"`),
				Delete: pulumi.String("echo deleted >>" + witness),
				Stdin:  pulumi.String(stdin),
				// A changed trigger replaces: the new one is created, then the old one is deleted.
				Triggers: pulumi.Array{pulumi.String(trigger)},
				Environment: pulumi.StringMap{
					"PASSWORD": pulumi.ToSecret(pulumi.String(canary)).(pulumi.StringOutput),
				},
			})
			if err != nil {
				return err
			}
			ctx.Export("stdout", command.Stdout)
			return nil
		}
	}
	ctx := context.Background()
	define("a", "1")
	stack := newStack(t, &program)

	var log bytes.Buffer
	up, err := stack.Up(ctx, optup.ProgressStreams(&log))
	if err != nil {
		t.Fatal(err)
	}
	if got := up.Outputs["stdout"].Value; got != "created a 13" {
		t.Errorf("the first up made %q", got)
	}
	if up, err = stack.Up(ctx, optup.ProgressStreams(&log)); err != nil {
		t.Fatal(err)
	}
	if changes := *up.Summary.ResourceChanges; changes["same"] != 2 || len(changes) != 1 {
		t.Errorf("the second up changed %v, want nothing", changes)
	}
	define("b", "1")
	preview, err := stack.Preview(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if preview.ChangeSummary["update"] != 1 {
		t.Errorf("the preview of a change says %v, want one update", preview.ChangeSummary)
	}
	if up, err = stack.Up(ctx, optup.ProgressStreams(&log)); err != nil {
		t.Fatal(err)
	}
	if got := up.Outputs["stdout"].Value; got != "updated b after created a 13" {
		t.Errorf("the update made %q", got)
	}

	if got := stateInputs(t, stack, "command:local:Command")["stdin"]; got != "b" {
		t.Errorf("stdin in the state is %v, want it in the clear", got)
	}
	if strings.Contains(log.String(), canary) {
		t.Error("the log shows the secret")
	}
	for _, file := range filesWith(t, stack.Workspace().WorkDir(), canary) {
		t.Errorf("%s shows the secret", file)
	}

	define("c", "2")
	if up, err = stack.Up(ctx, optup.ProgressStreams(&log)); err != nil {
		t.Fatal(err)
	}
	if got := up.Outputs["stdout"].Value; got != "created c 13" || (*up.Summary.ResourceChanges)["replace"] != 1 {
		t.Errorf("the trigger made %q by %v, want a replacement", got, *up.Summary.ResourceChanges)
	}
	if _, err := stack.Destroy(ctx, optdestroy.ProgressStreams(&log)); err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(witness); string(content) != "deleted\ndeleted\n" {
		t.Errorf("delete commands wrote %q, want one line by the replacement and one by destroy", content)
	}
}

// stateInputs returns the inputs that the state holds for the resource of a type.
func stateInputs(t *testing.T, stack auto.Stack, token string) map[string]any {
	t.Helper()
	exported, err := stack.Export(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Type   string
			Inputs map[string]any
		}
	}
	if err := json.Unmarshal(exported.Deployment, &state); err != nil {
		t.Fatal(err)
	}
	for _, resource := range state.Resources {
		if resource.Type == token {
			return resource.Inputs
		}
	}
	t.Fatalf("no %s in the state", token)
	return nil
}

// filesWith returns the files below dir, Pulumi's state with its history among them, that contain text.
func filesWith(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(path, filepath.Join(".pulumi", "stacks")) {
			seen++
		}
		if strings.Contains(string(content), text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen == 0 {
		t.Fatalf("there is no state below %s", dir)
	}
	return found
}

func TestPulumiShowsLinesAndFailures(t *testing.T) {
	var program pulumi.RunFunc = func(ctx *pulumi.Context) error {
		_, err := local.NewCommand(ctx, "fails", &local.CommandArgs{
			Create: pulumi.String("echo working; sleep 1; echo broken >&2; exit 7"),
		})
		return err
	}
	stack := newStack(t, &program)
	var log bytes.Buffer
	if _, err := stack.Up(context.Background(), optup.ProgressStreams(&log)); err == nil {
		t.Fatal("the failure was not reported")
	}
	for _, want := range []string{"working", "exit status 7", "broken"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, &log)
		}
	}
}

func TestPulumiInterrupted(t *testing.T) {
	witness := filepath.Join(t.TempDir(), "witness")
	var program pulumi.RunFunc = func(ctx *pulumi.Context) error {
		_, err := local.NewCommand(ctx, "long", &local.CommandArgs{
			Create: pulumi.String(`trap 'echo stopped >` + witness + `; exit 1' INT; echo up >` + witness + `; while :; do sleep 0.1; done`),
		})
		return err
	}
	stack := newStack(t, &program)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream := make(chan events.EngineEvent)
	go func() {
		for range stream { // read to the end, so that the engine never waits
		}
	}()
	done := make(chan error, 1)
	go func() {
		_, err := stack.Up(ctx, optup.EventStreams(stream))
		done <- err
	}()
	content := func() string { b, _ := os.ReadFile(witness); return string(b) }
	for deadline := time.Now().Add(time.Minute); content() != "up\n"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the command did not start")
		}
	}
	cancel()
	select {
	case err := <-done:
		if err == nil {
			t.Error("an interrupted up reports success")
		}
	case <-time.After(time.Minute):
		t.Fatal("up did not end after the interrupt")
	}
	for deadline := time.Now().Add(10 * time.Second); content() != "stopped\n"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the command wrote %q; it was not told to stop", content())
		}
	}
}
