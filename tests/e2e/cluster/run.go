package cluster

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// runLimit bounds one run of Pulumi. It is for runs that hang; a busy machine
// needs minutes for an up.
const runLimit = 20 * time.Minute

// Run is one finished call of tools/stack.sh.
type Run struct {
	// Verb of tools/stack.sh.
	Verb string
	// Output is what it printed on both streams.
	Output string
	// Events of Pulumi. Empty where Pulumi did not get to run.
	Events Events
	// Err is nil when it succeeded.
	Err error
	// Took is how long it ran.
	Took time.Duration

	environment string
}

// Changes lists what the run did not leave as it was, as "update controller",
// in lexical order.
func (r Run) Changes() []string { return r.Events.Changes(r.environment) }

// Says tells whether the run printed a text, however its lines were wrapped.
func (r Run) Says(text string) bool {
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	return strings.Contains(flat(r.Output), flat(text))
}

// Up brings the environment to what the file says and fails the test where
// that fails.
func (c *Cluster) Up(t testing.TB, variables ...string) Run {
	t.Helper()
	return c.must(t, c.try(t, "up", nil, variables...))
}

// TryUp is Up that may fail.
func (c *Cluster) TryUp(t testing.TB, variables ...string) Run {
	t.Helper()
	return c.try(t, "up", nil, variables...)
}

// Preview shows what Up would change.
func (c *Cluster) Preview(t testing.TB, variables ...string) Run {
	t.Helper()
	return c.must(t, c.try(t, "preview", nil, variables...))
}

// Wrapped is Preview called through another program, such as unshare.
func (c *Cluster) Wrapped(t testing.TB, program []string, variables ...string) Run {
	t.Helper()
	return c.must(t, c.try(t, "preview", program, variables...))
}

// Down destroys the environment.
func (c *Cluster) Down(t testing.TB, variables ...string) Run {
	t.Helper()
	return c.must(t, c.try(t, "down", nil, variables...))
}

// TryDown is Down that may fail.
func (c *Cluster) TryDown(t testing.TB, variables ...string) Run {
	t.Helper()
	return c.try(t, "down", nil, variables...)
}

// Output reads one output of the stack, a secret one too.
func (c *Cluster) Output(t testing.TB, name string) string {
	t.Helper()
	command := exec.Command(filepath.Join(c.Checkout.Root, "tools", "stack.sh"), "pulumi", c.File, "stack", "output", name, "--show-secrets")
	command.Env = c.environ()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("reading the output %s: %v", name, err)
	}
	return string(out)
}

func (c *Cluster) must(t testing.TB, run Run) Run {
	t.Helper()
	if run.Err != nil {
		t.Fatalf("%s of %s: %v\n%s", run.Verb, c.Name, run.Err, run.Trouble())
	}
	return run
}

// Trouble is the part of the output that says what went wrong: from Pulumi's
// diagnostics to its outputs. All of it where there is no such part.
func (r Run) Trouble() string {
	_, after, found := strings.Cut(r.Output, "Diagnostics:\n")
	if !found {
		return r.Output
	}
	text, _, _ := strings.Cut(after, "Outputs:\n")
	return text
}

func (c *Cluster) try(t testing.TB, verb string, wrapper []string, variables ...string) Run {
	t.Helper()
	return c.start(t, verb, wrapper, variables...).Wait(t)
}

// Running is a run that has not ended.
type Running struct {
	command *exec.Cmd
	output  *lockedBuffer
	run     Run
	log     string
	started time.Time
	limit   *time.Timer
	ended   chan struct{}
}

// StartUp begins an up and returns at once.
func (c *Cluster) StartUp(t testing.TB, variables ...string) *Running {
	t.Helper()
	return c.start(t, "up", nil, variables...)
}

func (c *Cluster) start(t testing.TB, verb string, wrapper []string, variables ...string) *Running {
	t.Helper()
	log := c.logFile(verb)
	words := append(slices.Clone(wrapper), filepath.Join(c.Checkout.Root, "tools", "stack.sh"), verb, c.File, "--event-log", log+".events")
	r := &Running{
		command: exec.Command(words[0], words[1:]...), output: &lockedBuffer{}, log: log, started: time.Now(), ended: make(chan struct{}),
		run: Run{Verb: verb, environment: c.Name},
	}
	r.command.Dir = c.Logs
	r.command.Env = append(c.environ(), variables...)
	r.command.Stdout, r.command.Stderr = r.output, r.output
	// A group of its own, so that a signal can be sent as a terminal does.
	r.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		r.run.Err = r.command.Wait()
		r.run.Took = time.Since(r.started)
		close(r.ended)
	}()
	r.limit = time.AfterFunc(runLimit, func() { _ = syscall.Kill(-r.command.Process.Pid, syscall.SIGKILL) })
	return r
}

// environ is the environment of a run: nothing that the caller has set for
// another backend gets through.
func (c *Cluster) environ() []string {
	var all []string
	for _, entry := range os.Environ() {
		// Where this machine has what labs are made of is no matter of the backend.
		if strings.HasPrefix(entry, artifacts.StoreVariable+"=") || !strings.HasPrefix(entry, "PULUMI_") && !strings.HasPrefix(entry, "GPUCLUSTER_") {
			all = append(all, entry)
		}
	}
	// Pulumi knows --event-log only in this mode.
	return append(append(all, "GPUCLUSTER_STATE="+c.State, "PULUMI_DEBUG_COMMANDS=true"), c.Variables...)
}

// Interrupt sends what Ctrl-C in a terminal sends, to the whole group.
func (r *Running) Interrupt() { _ = syscall.Kill(-r.command.Process.Pid, syscall.SIGINT) }

// Kill ends every process of the run at once, as a crash of the machine does.
func (r *Running) Kill() { _ = syscall.Kill(-r.command.Process.Pid, syscall.SIGKILL) }

// Ended tells whether the run is over.
func (r *Running) Ended() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// Output is what the run has printed so far.
func (r *Running) Output() string { return r.output.String() }

// Wait returns the run when it has ended.
func (r *Running) Wait(t testing.TB) Run {
	t.Helper()
	<-r.ended
	r.limit.Stop()
	r.run.Output = r.output.String()
	if err := os.WriteFile(r.log+".txt", []byte(r.run.Output), 0o600); err != nil {
		t.Error(err)
	}
	if file, err := os.Open(r.log + ".events"); err == nil {
		defer file.Close()
		events, err := ReadEvents(file)
		if err != nil && r.run.Err == nil {
			t.Errorf("%s: %v", r.log, err)
		}
		r.run.Events = events
	}
	t.Logf("%s: %s took %.0f s: %s", r.run.environment, r.run.Verb, r.run.Took.Seconds(), r.run.summary())
	return r.run
}

func (r Run) summary() string {
	changes := r.Changes()
	text := fmt.Sprintf("%d changed, %d unchanged", len(changes), r.Events.Unchanged())
	if len(changes) > 0 && len(changes) < 12 {
		text += " (" + strings.Join(changes, ", ") + ")"
	}
	if r.Err != nil {
		text += ", " + r.Err.Error()
	}
	return text
}

// lockedBuffer can be read while a process writes to it.
type lockedBuffer struct {
	lock   sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.buffer.String()
}
