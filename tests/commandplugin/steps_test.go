package commandplugin

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optup"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
)

// stepProgram stands in for gpucluster: it notes that it ran, and fails with its
// own words where a file says so.
const stepProgram = `#!/bin/sh
echo "$3" >>"$STEP_LOG"
[ -z "$PULUMI_COMMAND_STDOUT" ] || echo "previous $PULUMI_COMMAND_STDOUT" >>"$STEP_LOG"
if [ -e "$STEP_FAILS" ]; then echo "step failed with a key of ${#GPUCLUSTER_SECRET_SSH_KEY} letters" >&2; exit 1; fi
echo done
`

// TestCasesOfSteps runs a step that reaches a host with a key, and has a secret and a
// secret result, through real updates.
func TestCasesOfSteps(t *testing.T) {
	dir := t.TempDir()
	log, fails := filepath.Join(dir, "log"), filepath.Join(dir, "fails")
	if err := os.WriteFile(filepath.Join(dir, "gpucluster"), []byte(stepProgram), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("STEP_LOG", log)
	t.Setenv("STEP_FAILS", fails)
	key, word := canary, "old-"+canary
	var program pulumi.RunFunc = func(ctx *pulumi.Context) error {
		_, err := stepresource.New(ctx, "member", stepresource.Args{
			Step: "membership", Spec: map[string]string{"host": "h1"}, SecretResult: true,
			Targets: []connection.Connection{{Name: "h1", PrivateKey: pulumi.String(key)}},
			Secrets: map[string]pulumi.StringInput{"WORD": pulumi.String(word)},
		})
		return err
	}
	stack := newStack(t, &program)
	var printed bytes.Buffer
	up := func() (map[string]int, error) {
		result, err := stack.Up(context.Background(), optup.ProgressStreams(&printed), optup.ErrorProgressStreams(&printed), optup.Diff())
		if err != nil || result.Summary.ResourceChanges == nil {
			return nil, err
		}
		return *result.Summary.ResourceChanges, nil
	}
	hidden := func(t *testing.T) {
		t.Helper()
		if strings.Contains(printed.String(), canary) {
			t.Errorf("Pulumi printed a secret:\n%s", printed.String())
		}
	}
	if _, err := up(); err != nil {
		t.Fatal(err)
	}

	// Neither the key of a connection, given as plain text, nor anything else that is
	// secret stands in the state.
	t.Run("TestCaseK28", func(t *testing.T) {
		hidden(t)
		environment, _ := stateInputs(t, stack, "command:local:Command")["environment"].(map[string]any)
		for _, entry := range []string{"GPUCLUSTER_SECRET_SSH_KEY", "GPUCLUSTER_SECRET_WORD"} {
			if value, _ := environment[entry].(map[string]any); value[resource.SigKey] != resource.SecretSig {
				t.Errorf("%s is no secret in the state", entry)
			}
		}
		for _, file := range filesWith(t, stack.Workspace().WorkDir(), canary) {
			t.Errorf("%s shows the secret", file)
		}
	})
	// A secret is one from the first update on: when it changes, neither the old nor the
	// new one is shown.
	t.Run("TestCaseK33", func(t *testing.T) {
		word = "new-" + canary
		if _, err := stack.Preview(t.Context(), optpreview.ProgressStreams(&printed), optpreview.Diff()); err != nil {
			t.Fatal(err)
		}
		hidden(t)
		if !strings.Contains(printed.String(), "GPUCLUSTER_SECRET_WORD") {
			t.Error("the preview does not say that the secret changes")
		}
	})
	// A key that is changed for another runs the step again, which changes nothing on
	// its host; nothing is replaced, and so removed.
	t.Run("TestCaseK34", func(t *testing.T) {
		key = "another-" + canary
		before := ran(t, log)
		if changes, err := up(); err != nil || changes["update"] != 1 || changes["replace"] != 0 {
			t.Errorf("another key: %v, %v", changes, err)
		}
		if after := ran(t, log); after != before+"apply\n" {
			t.Errorf("the steps that ran are %q", strings.TrimPrefix(after, before))
		}
		hidden(t)
	})
	// What is said of a step that fails is its command line and its own last words; the
	// results of earlier runs are not handed on.
	t.Run("TestCaseK31", func(t *testing.T) {
		if err := os.WriteFile(fails, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		key = "third-" + canary
		if _, err := up(); err == nil {
			t.Fatal("the failure was not reported")
		}
		hidden(t)
		if !strings.Contains(printed.String(), "gpucluster step membership apply") || !strings.Contains(printed.String(), "exit status 1") {
			t.Errorf("the failure is not explained:\n%s", printed.String())
		}
		if strings.Contains(ran(t, log), "previous") {
			t.Errorf("earlier results are handed on:\n%s", ran(t, log))
		}
		for _, file := range filesWith(t, stack.Workspace().WorkDir(), canary) {
			t.Errorf("%s shows a secret", file)
		}
	})
}

// ran lists the steps that ran.
func ran(t *testing.T, log string) string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
