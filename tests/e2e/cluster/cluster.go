package cluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
)

// KeepVariable names a folder for people who write tests: the cluster is kept
// there with its file, its state and what every run printed, and the next call
// goes on with it, for example with one later stage alone. Default: everything
// goes with the test.
const KeepVariable = "GPUCLUSTER_E2E_KEEP"

// Cluster is one environment of a test with its file and its state.
type Cluster struct {
	// Name of the environment, of its stack and of its lab.
	Name string
	// Checkout whose tools/stack.sh is called. A test may change it.
	Checkout Checkout
	// File of the environment.
	File string
	// State is the folder of the backend and its passphrase.
	State string
	// Logs is the folder with what every run printed.
	Logs string
	// Variables are set for each run, as NAME=value, beside those of the caller.
	Variables []string

	jobs []string
}

// placeholder stands for the name of the environment in a base file.
const placeholder = "name: NAME"

// New writes an environment file from a base text, in which "name: NAME" takes
// a name of this run, and destroys what was built from it when the test ends.
// It skips the test where labs cannot run.
func New(t *testing.T, prefix, base string) *Cluster {
	t.Helper()
	labtest.Engine(t)
	if strings.Count(base, placeholder) != 1 {
		t.Fatalf("the base file has not exactly one %q", placeholder)
	}
	name, dir := labtest.Name("e2e-"+prefix), t.TempDir()
	keep := os.Getenv(KeepVariable)
	if keep != "" {
		name, dir = "e2e-"+prefix, filepath.Join(keep, prefix)
	}
	c := &Cluster{
		Name: name, Checkout: This(t), File: filepath.Join(dir, "Pulumi."+name+".yaml"),
		State: filepath.Join(dir, "state"), Logs: filepath.Join(dir, "logs"),
	}
	if err := os.MkdirAll(c.Logs, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.File); err == nil {
		return c
	}
	c.write(t, strings.Replace(base, placeholder, "name: "+name, 1))
	if keep == "" {
		t.Cleanup(func() { c.clean(t) })
	}
	return c
}

func (c *Cluster) write(t testing.TB, content string) {
	t.Helper()
	if err := os.WriteFile(c.File, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Content is the text of the environment file.
func (c *Cluster) Content(t testing.TB) string {
	t.Helper()
	content, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Edit replaces texts in the environment file, in pairs of old and new. Each
// old text must stand there exactly once.
func (c *Cluster) Edit(t testing.TB, pairs ...string) {
	t.Helper()
	content := c.Content(t)
	for i := 0; i < len(pairs); i += 2 {
		if got := strings.Count(content, pairs[i]); got != 1 {
			t.Fatalf("the environment file has %q %d times, want once:\n%s", pairs[i], got, content)
		}
		content = strings.Replace(content, pairs[i], pairs[i+1], 1)
	}
	c.write(t, content)
}

// Restore writes the environment file with an earlier content.
func (c *Cluster) Restore(t testing.TB, content string) { c.write(t, content) }

// clean destroys the environment, whatever became of it, and looks for what is
// left. Containers that a failed destruction leaves are removed all the same,
// after the test has been failed.
func (c *Cluster) clean(t *testing.T) {
	if c.exists() {
		if run := c.try(t, "down", nil, "GPUCLUSTER_DESTROY_RUNNING_JOBS=yes"); run.Err != nil {
			t.Errorf("taking %s down: %v\n%s", c.Name, run.Err, run.Trouble())
		}
	}
	if left := c.Left(t); left != "" {
		t.Errorf("after the end of %s there is still:\n%s", c.Name, left)
		c.sweep(t)
	}
}

// exists tells whether the state holds the environment's stack.
func (c *Cluster) exists() bool {
	_, err := os.Stat(filepath.Join(c.State, ".pulumi", "stacks", "gpucluster", c.Name+".json"))
	return err == nil
}

// Container is the name of a host's container.
func (c *Cluster) Container(host string) string { return lab.ContainerName(c.Name, host) }

// Network is the name of the lab's network.
func (c *Cluster) Network() string { return lab.NetworkName(c.Name) }

func (c *Cluster) logFile(verb string) string {
	earlier, _ := filepath.Glob(filepath.Join(c.Logs, "*.txt"))
	return filepath.Join(c.Logs, fmt.Sprintf("%02d-%s", len(earlier)+1, verb))
}
