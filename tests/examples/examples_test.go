// Package examples runs the examples as their pages say, with the real Pulumi.
package examples

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// commands are those that the page of an example gives, up to the first that
// begins with the word, and the rest.
func commands(t *testing.T, checkout cluster.Checkout, example, until string) (before, after string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(checkout.Root, "examples", example, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```bash\n(.*?)```").FindStringSubmatch(string(page))
	if block == nil {
		t.Fatalf("the page of %s gives no commands", example)
	}
	at := strings.Index(block[1], "\n"+until)
	if at < 0 {
		t.Fatalf("the page of %s has no command %q", example, until)
	}
	return block[1][:at+1], block[1][at+1:]
}

// setting are the commands that prepare a shell, which a second one needs too.
func setting(script string) string {
	var lines []string
	for _, line := range strings.Split(script, "\n") {
		if strings.HasPrefix(line, "export ") || strings.HasPrefix(line, "cd ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// shell runs commands in a checkout, as a person would type them.
func shell(t *testing.T, checkout cluster.Checkout, script string, variables ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = checkout.Root
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PULUMI_") && !strings.HasPrefix(variable, "GPUCLUSTER_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, variables...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, output)
	}
	return string(output)
}

// TestSlurmInLab builds the lab of the example, runs a job, finds nothing to
// change, and takes it down.
func TestSlurmInLab(t *testing.T) {
	labtest.Engine(t)
	checkout := cluster.This(t).CloneWithTools(t)
	build, end := commands(t, checkout, "slurm-in-lab", "pulumi destroy")
	ended := false
	t.Cleanup(func() {
		if !ended {
			shell(t, checkout, setting(build)+"GPUCLUSTER_DESTROY_RUNNING_JOBS=yes pulumi destroy --yes --stack demo")
		}
	})
	output := shell(t, checkout, build)
	for _, want := range []string{"23 created", `"status":"ready"`, "scheduler slurm, 2 compute hosts with 16 GPUs, controller ctl1", "GPU 0: "} {
		if !strings.Contains(output, want) {
			t.Errorf("the commands do not say %q:\n%s", want, output)
		}
	}
	shell(t, checkout, setting(build)+"pulumi up --yes --skip-preview --expect-no-changes")
	shell(t, checkout, setting(build)+end)
	ended = true
	if left := (&cluster.Cluster{Name: "example"}).Left(t); left != "" {
		t.Errorf("after its end there is still:\n%s", left)
	}
}

// machines is a program that has made the machines of the example.
const machines = `package main

import "github.com/pulumi/pulumi/sdk/v3/go/pulumi"

func main() {
	pulumi.Run(func(ctx *pulumi.Context) error {
		all := pulumi.Map{}
		for id, host := range []string{"ctl1", "gpu1", "gpu2"} {
			all[host] = pulumi.Map{
				"id": pulumi.Sprintf("i-%d", id), "address": pulumi.Sprintf("192.0.2.1%d", id), "hostKey": pulumi.String("ssh-ed25519 AAAA"),
			}
		}
		ctx.Export("machines", all)
		ctx.Export("privateKey", pulumi.ToSecret(pulumi.String("a-private-key")))
		return nil
	})
}
`

// TestSlurmOnMachines previews the cluster on the outputs of another stack; no
// machine exists.
func TestSlurmOnMachines(t *testing.T) {
	checkout := cluster.This(t).CloneWithTools(t)
	backend := "PULUMI_BACKEND_URL=file://" + t.TempDir()
	other := filepath.Join(checkout.Root, "machines")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"Pulumi.yaml": "name: machines\nruntime: go\n", "main.go": machines} {
		if err := os.WriteFile(filepath.Join(other, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := commands(t, checkout, "slurm-on-machines", "pulumi preview")
	script := setting(before) + "cd ../../machines\npulumi stack init prod\npulumi up --yes --skip-preview\n"
	shell(t, checkout, script, backend, "PULUMI_CONFIG_PASSPHRASE=x")
	output := shell(t, checkout, before+"pulumi preview --diff", backend, "PULUMI_CONFIG_PASSPHRASE=x")
	for _, want := range []string{"+ 17 to create", "192.0.2.12 gpu2", "gpu1=i-1"} {
		if !strings.Contains(output, want) {
			t.Errorf("the preview does not say %q:\n%s", want, output)
		}
	}
	if strings.Contains(output, "a-private-key") {
		t.Error("the preview shows the private key")
	}
}
