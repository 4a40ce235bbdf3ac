package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
)

// grace is what a command that was told to stop gets before it is killed. A variable for the tests.
var grace = 30 * time.Second

// groups holds the process groups of the commands that are running.
var groups = struct {
	sync.Mutex
	running map[int]bool
}{running: map[int]bool{}}

// KillAll kills every command that is running, with everything it started.
func KillAll() {
	groups.Lock()
	defer groups.Unlock()
	for group := range groups.running {
		killGroup(group)
	}
}

func killGroup(group int) { _ = syscall.Kill(-group, syscall.SIGKILL) }

// run runs command as in says and fills out, which holds the outputs of the run before. On failure out is as before
// and the error ends with all that the command wrote. When ctx ends, the command and what it started get SIGINT, and
// SIGKILL after the grace.
func run(ctx context.Context, command string, in BaseInputs, out *BaseOutputs) error {
	argv := []string{"/bin/sh", "-c"}
	if in.Interpreter != nil && len(*in.Interpreter) > 0 {
		argv = append([]string(nil), *in.Interpreter...)
	}
	argv = append(argv, command)

	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = environment(in, out)
	if in.Dir != nil {
		// Asked for here, because a failing start would blame the interpreter.
		if _, err := os.Stat(*in.Dir); err != nil {
			return fmt.Errorf("dir: %w", err)
		}
		cmd.Dir = *in.Dir
	} else if dir, err := os.Getwd(); err == nil {
		cmd.Dir = dir // named, because the paths of assets begin with it
	} else {
		return err
	}
	if in.Stdin != nil && *in.Stdin != "" {
		cmd.Stdin = strings.NewReader(*in.Stdin)
	}

	var stdout, stderr, both bytes.Buffer
	var mutex sync.Mutex
	show := func(shown bool) *lines {
		if !shown {
			return &lines{show: func(string) {}}
		}
		return &lines{show: p.GetLogger(ctx).InfoStatus}
	}
	stdoutLines, stderrLines := show(in.Logging.showsStdout()), show(in.Logging.showsStderr())
	cmd.Stdout = locked{&mutex, io.MultiWriter(&stdout, &both, stdoutLines)}
	cmd.Stderr = locked{&mutex, io.MultiWriter(&stderr, &both, stderrLines)}

	err := wait(ctx, cmd)
	mutex.Lock() // a process that left the group may still write
	defer mutex.Unlock()
	stdoutLines.flush()
	stderrLines.flush()
	if err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("canceled: %w", err)
		}
		return fmt.Errorf("%w: running %q:\n%s", err, command, both.String())
	}
	if err := collectFiles(cmd.Dir, in, out); err != nil {
		return err
	}
	out.Stdout = strings.TrimSuffix(stdout.String(), "\n")
	out.Stderr = strings.TrimSuffix(stderr.String(), "\n")
	return nil
}

// wait starts cmd in a process group of its own and waits for its end.
func wait(ctx context.Context, cmd *exec.Cmd) error {
	// The kernel sends the death signal when the thread that started the command ends, so it must be this one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = grace

	groups.Lock()
	err := cmd.Start()
	if err != nil {
		groups.Unlock()
		return err
	}
	group := cmd.Process.Pid
	groups.running[group] = true
	groups.Unlock()

	err = cmd.Wait()

	groups.Lock()
	defer groups.Unlock()
	delete(groups.running, group)
	if ctx.Err() != nil {
		killGroup(group) // what the command left behind; after a good end that is the command's own affair
	}
	return err
}

// environment returns the plugin's variables, those of in over them, and what the run before wrote.
func environment(in BaseInputs, out *BaseOutputs) []string {
	env := os.Environ()
	if in.Environment != nil {
		for name, value := range *in.Environment {
			env = append(env, name+"="+value)
		}
	}
	if in.AddPreviousOutputInEnv == nil || *in.AddPreviousOutputInEnv {
		if out.Stdout != "" {
			env = append(env, "PULUMI_COMMAND_STDOUT="+out.Stdout)
		}
		if out.Stderr != "" {
			env = append(env, "PULUMI_COMMAND_STDERR="+out.Stderr)
		}
	}
	return env
}

// locked is a writer that several goroutines may use.
type locked struct {
	mutex *sync.Mutex
	w     io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.w.Write(b)
}

// lines is a writer that shows whole lines as they come, however long they are.
type lines struct {
	show func(string)
	rest []byte
}

func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			return len(b), nil
		}
		l.show(string(line))
		l.rest = rest
	}
}

// flush shows a last line that has no newline.
func (l *lines) flush() {
	if len(l.rest) > 0 {
		l.show(string(l.rest))
		l.rest = nil
	}
}
