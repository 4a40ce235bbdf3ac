// Package stackscript tests tools/stack.sh, which make up, make preview and make down call, with a small program in the
// place of the real one.
package stackscript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/config"
)

const program = `package main

import (
	"os"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		file := os.Getenv("GPUCLUSTER_ENVIRONMENT_FILE")
		if file == "" {
			file = "Pulumi." + ctx.Stack() + ".yaml"
		}
		own, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		what, _ := ctx.GetConfig("gpucluster:what")
		key, _ := ctx.GetConfig("gpucluster:environment")
		ctx.Export("key", pulumi.ToSecret(pulumi.String(key)))
		ctx.Export("secret", pulumi.ToSecret(pulumi.String("canary-3e80d1")))
		ctx.Export("summary", pulumi.String("built "+what+" from "+string(own[:6])))
		return nil
	})
}
`

const environment = "config:\n  gpucluster:what: a cluster\n"

// slowProgram has one resource that takes until a file is there.
const slowProgram = `package main

import (
	"os"

	"github.com/pulumi/pulumi-command/sdk/go/command/local"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"
)

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		_, err := local.NewCommand(ctx, "slow", &local.CommandArgs{
			Create: pulumi.String("echo $$ >>runs; until [ -e release ]; do sleep 0.1; done"),
			Dir:    pulumi.String(os.Getenv("SLOW_DIR")),
		})
		return err
	})
}
`

// checkout makes a folder like a clone of the repository with a small program, under git.
func checkout(t *testing.T, source string) string {
	t.Helper()
	if _, err := exec.LookPath("pulumi"); err != nil {
		t.Skip("pulumi is not on PATH; make tools builds it")
	}
	dir := filepath.Join(t.TempDir(), "a checkout") // with a space, as folders have
	for name, content := range map[string]string{
		"stacks/main.go":              source,
		"stacks/Pulumi.test-env.yaml": environment,
		".gitignore":                  read(t, "../../.gitignore"),
		"Pulumi.yaml":                 read(t, "../../Pulumi.yaml"),
		"tools/stack.sh":              read(t, "../../tools/stack.sh"),
		"go.mod":                      read(t, "../../go.mod"),
		"go.sum":                      read(t, "../../go.sum"),
		// What the script ends with is not the matter of these tests.
		".tools/bin/gpucluster": "#!/bin/sh\necho \"$2 as it is: $1 $3 $4\"\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{
		{"init", "-q"},
		{"add", "."},
		{"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-qm", "A checkout"},
	} {
		command := exec.Command("git", arguments...)
		command.Dir = dir
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, output)
		}
	}
	return dir
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// stack runs tools/stack.sh of a checkout with the state in a folder; more variables may be set.
func stack(dir, state string, arguments []string, variables ...string) (string, error) {
	return stackReading("", dir, state, arguments, variables...)
}

// stackReading is stack with a standard input.
func stackReading(input, dir, state string, arguments []string, variables ...string) (string, error) {
	command := exec.CommandContext(context.Background(), filepath.Join(dir, "tools", "stack.sh"), arguments...)
	command.Dir = os.TempDir() // the script must not depend on where it is called
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PULUMI_") && !strings.HasPrefix(variable, "GPUCLUSTER_") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "GPUCLUSTER_STATE="+state)
	command.Env = append(command.Env, variables...)
	var output bytes.Buffer
	command.Stdin = strings.NewReader(input)
	command.Stdout, command.Stderr = &output, &output
	err := command.Run()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		err = fmt.Errorf("%w\n%s", err, &output)
	}
	return output.String(), err
}

func must(t *testing.T) func(string, error) string {
	return func(output string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return output
	}
}

func TestStackFromTwoCheckouts(t *testing.T) {
	first := checkout(t, program)
	state := filepath.Join(t.TempDir(), "the state")

	preview := must(t)(stack(first, state, []string{"preview", "test-env"}))
	if !strings.Contains(preview, "+ 1 to create") || !strings.HasSuffix(strings.TrimSpace(preview), "make preview ENV=test-env ARGS=--diff") {
		t.Errorf("the preview does not end with what is to be made and how to see more of it:\n%s", preview)
	}
	up := must(t)(stack(first, state, []string{"up", "test-env"}))
	if lines := strings.Split(strings.TrimSpace(up), "\n"); lines[len(lines)-1] != "test-env as it is: status --ssh tools/stack.sh ssh test-env" {
		t.Errorf("up does not end with the state of the environment:\n%s", up)
	}

	second := checkout(t, program)
	again := must(t)(stack(second, state, []string{"up", "test-env"}))
	if !strings.Contains(again, "1 unchanged") || strings.Contains(again, "updated") {
		t.Errorf("up from another checkout changes something:\n%s", again)
	}
	secret := must(t)(stack(second, state, []string{"pulumi", "test-env", "stack", "output", "secret", "--show-secrets"}))
	if strings.TrimSpace(secret) != "canary-3e80d1" {
		t.Errorf("the other checkout reads the secret as %q", secret)
	}

	for _, dir := range []string{first, second} {
		status := exec.Command("git", "status", "--porcelain")
		status.Dir = dir
		if output, err := status.Output(); err != nil || len(output) > 0 {
			t.Errorf("git status after the runs: %v\n%s", err, output)
		}
	}
	info, err := os.Stat(filepath.Join(state, "passphrase"))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 || info.Size() != 64 {
		t.Errorf("the passphrase file has mode %v and %d bytes, want 0600 and 64", info.Mode().Perm(), info.Size())
	}
	checkpoint := read(t, filepath.Join(state, ".pulumi", "stacks", "gpucluster", "test-env.json"))
	if strings.Contains(checkpoint, "canary-3e80d1") {
		t.Error("the state holds the secret in the clear")
	}

	// Down needs neither an earlier run in the same checkout nor the program.
	third := checkout(t, program)
	if err := os.RemoveAll(filepath.Join(third, "stacks", "main.go")); err != nil {
		t.Fatal(err)
	}
	down := must(t)(stack(third, state, []string{"down", "test-env"}))
	if !strings.Contains(down, "1 deleted") {
		t.Errorf("down deleted nothing:\n%s", down)
	}
}

func TestStackFromAFileElsewhere(t *testing.T) {
	dir, state := checkout(t, program), t.TempDir()
	elsewhere := filepath.Join(t.TempDir(), "a folder")
	file := filepath.Join(elsewhere, "Pulumi.far-env.yaml")
	if err := os.Mkdir(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("# far\n"+environment), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t)(stack(dir, state, []string{"up", file}))
	summary := must(t)(stack(dir, state, []string{"pulumi", file, "stack", "output", "summary"}))
	if strings.TrimSpace(summary) != "built a cluster from # far" {
		t.Errorf("up did not read the file: %q", summary)
	}
	if content := read(t, file); content != "# far\n"+environment {
		t.Errorf("up has changed the file:\n%s", content)
	}
	must(t)(stack(dir, state, []string{"down", file}))
}

// TestSecretOfTheFile sets a secret as the documentation says, in a file of the checkout and in one elsewhere, and looks
// whether the file is still an environment and the program gets the clear text.
func TestSecretOfTheFile(t *testing.T) {
	const clear = "bXVuZ2Uga2V5LCB3aGljaCBpcyBsb25nIGVub3VnaA=="
	dir := checkout(t, program)
	content := strings.Replace(read(t, "../e2e/testdata/small.yaml"), "name: NAME", "name: NAME\n    # a comment", 1)
	for name, file := range map[string]string{
		"own-env": filepath.Join(dir, "stacks", "Pulumi.own-env.yaml"),
		"far-env": filepath.Join(t.TempDir(), "Pulumi.far-env.yaml"),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(strings.Replace(content, "NAME", name, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			env, state := name, t.TempDir()
			if name == "far-env" {
				env = file
			}
			must(t)(stackReading(clear+"\n", dir, state, []string{"pulumi", env, "config", "set", "--secret", "--path", "gpucluster:environment.slurm.mungeKey"}))
			set := read(t, file)
			loaded, report := config.Load(file, []byte(set))
			if loaded == nil || !loaded.Slurm.MungeKey.Set || strings.Contains(set, clear) || !strings.Contains(set, "# a comment") {
				t.Fatalf("the file is now:\n%s\n%s", set, report)
			}
			must(t)(stack(dir, state, []string{"up", env}))
			key := must(t)(stack(dir, state, []string{"pulumi", env, "stack", "output", "key", "--show-secrets"}))
			if !strings.Contains(key, clear) {
				t.Errorf("the program gets %s", key)
			}
		})
	}
}

// TestLookingMakesNothing checks that what only looks at an environment, or takes it down, makes no stack of it.
func TestLookingMakesNothing(t *testing.T) {
	dir, state := checkout(t, program), t.TempDir()
	for verb, want := range map[string]string{
		"status": "test-env was never built; type: make up ENV=test-env",
		"ssh":    "test-env was never built; type: make up ENV=test-env",
		"down":   "test-env was never built: there is nothing to take down",
	} {
		output, err := stack(dir, state, []string{verb, "test-env"})
		if !strings.Contains(output, want) || (err == nil) != (verb == "down") {
			t.Errorf("%s: %v, %q; want %q", verb, err, output, want)
		}
	}
	if made, err := filepath.Glob(filepath.Join(state, ".pulumi", "stacks", "*", "*")); err != nil || len(made) > 0 {
		t.Errorf("made: %v, %v", made, err)
	}
}

func TestStackAfterAKill(t *testing.T) {
	if _, err := exec.LookPath("pulumi-resource-command"); err != nil {
		t.Skip("pulumi-resource-command is not on PATH; make tools builds it where the real plugin cannot be had")
	}
	dir, state, slow := checkout(t, slowProgram), filepath.Join(t.TempDir(), "state"), t.TempDir()
	variable := "SLOW_DIR=" + slow
	killed := make(chan error, 1)
	go func() {
		_, err := stack(dir, state, []string{"up", "test-env"}, variable)
		killed <- err
	}()
	runs := func() []string {
		content, _ := os.ReadFile(filepath.Join(slow, "runs"))
		return strings.Fields(string(content))
	}
	eventually(t, "the command to run", func() bool { return len(runs()) == 1 })
	locks, err := filepath.Glob(filepath.Join(state, ".pulumi/locks/*/gpucluster/test-env/*.json"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("locks %v, %v; want one", locks, err)
	}
	if out, err := stack(dir, state, []string{"up", "test-env"}, variable); err == nil || !strings.Contains(out+fmt.Sprint(err), "another run is at work on test-env") {
		t.Errorf("a second run while the first is at work: %v\n%s", err, out)
	}
	var lock struct{ Pid int }
	if err := json.Unmarshal([]byte(read(t, locks[0])), &lock); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(lock.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-killed; err == nil {
		t.Error("the killed run reports success")
	}
	eventually(t, "the command to end", func() bool {
		_, err := os.Stat("/proc/" + runs()[0])
		return os.IsNotExist(err)
	})

	if err := os.WriteFile(filepath.Join(slow, "release"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	healed := must(t)(stack(dir, state, []string{"up", "test-env"}, variable))
	for _, want := range []string{"its lock goes", "what it had begun is done again", "command:local:Command slow created"} {
		if !strings.Contains(healed, want) {
			t.Errorf("the run after the kill does not say %q:\n%s", want, healed)
		}
	}
	if got := len(runs()); got != 2 {
		t.Errorf("the command ran %d times, want 2", got)
	}
	again := must(t)(stack(dir, state, []string{"up", "test-env"}, variable))
	if !strings.Contains(again, "2 unchanged") || strings.Contains(again, "pending") || strings.Contains(again, "killed") {
		t.Errorf("the run after that is not quiet:\n%s", again)
	}
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestAFileWithMistakes(t *testing.T) {
	dir, state := checkout(t, program), filepath.Join(t.TempDir(), "state")
	judge := filepath.Join(dir, ".tools", "bin", "gpucluster")
	if err := os.WriteFile(judge, []byte("#!/bin/sh\necho \"line 3 of $2 is wrong\" >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"up", "preview"} {
		output, err := stack(dir, state, []string{verb, "test-env"})
		if err == nil || !strings.Contains(output, "line 3 of stacks/Pulumi.test-env.yaml is wrong") {
			t.Errorf("%s: %v\n%s", verb, err, output)
		}
	}
	if made, _ := filepath.Glob(filepath.Join(state, ".pulumi", "stacks", "gpucluster", "*")); len(made) > 0 {
		t.Errorf("a stack was made for it: %v", made)
	}
}

func TestStackRefuses(t *testing.T) {
	dir := checkout(t, program)
	lost := filepath.Join(t.TempDir(), "lost")
	if err := os.MkdirAll(filepath.Join(lost, ".pulumi", "stacks", "gpucluster"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lost, ".pulumi", "stacks", "gpucluster", "test-env.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		arguments []string
		state     string
		want      string
	}{
		"no environment":           {[]string{"up"}, t.TempDir(), "usage:"},
		"an unknown environment":   {[]string{"up", "other"}, t.TempDir(), "there is no stacks/Pulumi.other.yaml; the environments are: test-env"},
		"a path as environment":    {[]string{"up", "../x"}, t.TempDir(), "../x is not a name of an environment"},
		"a file that is not there": {[]string{"up", "/nowhere/Pulumi.x.yaml"}, t.TempDir(), "there is no file /nowhere/Pulumi.x.yaml"},
		"an unknown verb":          {[]string{"build", "test-env"}, t.TempDir(), "unknown verb build"},
		"state without passphrase": {[]string{"up", "test-env"}, lost, "passphrase, which encrypts their secrets, is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := stack(dir, c.state, c.arguments)
			if err == nil || !strings.Contains(output, c.want) {
				t.Errorf("error %v, output %q; want a failure that says %q", err, output, c.want)
			}
		})
	}
}
