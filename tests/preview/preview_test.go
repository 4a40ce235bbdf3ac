// Package preview measures how a preview grows with the number of hosts. The
// hosts do not exist: a preview opens no connection.
package preview

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// environment is an estate of n GPU hosts that exist already, as a stack file.
func environment(n int) string {
	return fmt.Sprintf(`config:
  gpucluster:environment:
    name: preview
    scheduler: slurm
    inventory:
      ssh: {trustOnFirstUse: true}
    profiles:
      cpu: {sockets: 1, coresPerSocket: 16, memory: 64GiB}
      h100x8:
        sockets: 2
        coresPerSocket: 48
        threadsPerCore: 2
        memory: 2TiB
        gpus: [{type: h100, count: 8}]
    hosts:
      - {names: ctl1, profile: cpu, roles: [controller, database]}
      - {names: login1, profile: cpu, roles: [login]}
      - {names: "gpu[0001-%04[1]d]", profile: h100x8, roles: [compute]}
    slurm:
      version: "24.11"
      partitions:
        - {name: train, hosts: "gpu[0001-%04[1]d]", default: true}
`, n)
}

// program finds what make tools has built, or skips.
func program(tb testing.TB) string {
	tb.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, ".tools", "bin", "pulumi")); err != nil {
		tb.Skip("the pinned tools are not built: run make tools")
	}
	return filepath.Join(root, "tools", "stack.sh")
}

// preview runs one preview of an estate and returns what it printed and the
// most memory that one of its processes held, in MiB.
func preview(tb testing.TB, state, file string) (string, float64) {
	tb.Helper()
	cmd := exec.Command(program(tb), "preview", file, "--non-interactive", "--suppress-progress")
	cmd.Env = append(os.Environ(), "GPUCLUSTER_STATE="+state)
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("previewing: %v\n%s", err, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return string(out), float64(usage.Maxrss) / 1024
}

func write(tb testing.TB, hosts int) string {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "Pulumi.preview.yaml")
	if err := os.WriteFile(file, []byte(environment(hosts)), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

// TestPreviewOfNothing checks that a preview works before anything exists and
// counts what it would make.
func TestPreviewOfNothing(t *testing.T) {
	program(t)
	out, _ := preview(t, t.TempDir(), write(t, 4))
	// Two components and the stack, a baseline a host, owner, keys, database,
	// controller, login, accounting, smoke, gate and guard, a member a host.
	want := fmt.Sprintf("+ %d to create", 3+6+9+4)
	if !strings.Contains(out, want) {
		t.Errorf("the preview does not say %q:\n%s", want, out)
	}
}

func BenchmarkPreview(b *testing.B) {
	for _, hosts := range []int{16, 256, 1024} {
		b.Run(fmt.Sprintf("hosts=%d", hosts), func(b *testing.B) {
			program(b)
			state, file := b.TempDir(), write(b, hosts)
			preview(b, state, file) // builds the program and makes the stack
			var memory float64
			for b.Loop() {
				_, used := preview(b, state, file)
				memory = max(memory, used)
			}
			b.ReportMetric(memory, "MiB-peak")
		})
	}
}
