// Package shell runs shell commands as root on a host, wherever the host is:
// what speaks to a cluster's programs takes a [Runner], and needs no SSH in its
// tests.
package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Runner runs shell commands as root on one host.
type Runner interface {
	// Run runs command with /bin/sh and stdin as its input. It returns what
	// the command wrote to its standard output, also when it failed; the error
	// of a command that ended with a status other than 0 is a [*ExitError].
	Run(ctx context.Context, command string, stdin []byte) (stdout []byte, err error)
}

// RunnerFunc makes a Runner of a function.
type RunnerFunc func(ctx context.Context, command string, stdin []byte) ([]byte, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, command string, stdin []byte) ([]byte, error) {
	return f(ctx, command, stdin)
}

// ExitError is a command that ran and ended with a status other than 0.
type ExitError struct {
	// Command is what ran.
	Command string
	// Status is its exit status; -1 when a signal ended it.
	Status int
	// Stderr is what it wrote to its standard error.
	Stderr string
}

func (e *ExitError) Error() string {
	msg := strings.TrimSpace(e.Stderr)
	if msg == "" {
		msg = "no message"
	}
	return fmt.Sprintf("%s: exit status %d: %s", firstLine(e.Command), e.Status, msg)
}

// Exec is a Runner on this machine. Its value is the command line that a
// script is appended to, for example {"sh", "-c"} or
// {"docker", "exec", "-i", "ctl1", "sh", "-c"}.
type Exec []string

// Run runs command on this machine. When ctx ends, the command is killed.
func (e Exec) Run(ctx context.Context, command string, stdin []byte) ([]byte, error) {
	argv := append(append([]string{}, e...), command)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdin = bytes.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return stdout.Bytes(), fmt.Errorf("running %s: %w", firstLine(command), ctx.Err())
	case errors.As(err, &exit):
		return stdout.Bytes(), &ExitError{Command: command, Status: exit.ExitCode(), Stderr: stderr.String()}
	}
	return stdout.Bytes(), fmt.Errorf("running %s: %w", firstLine(command), err)
}

// Quote returns s as one word for a POSIX shell.
func Quote(s string) string {
	if s != "" && strings.IndexFunc(s, needsQuote) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func needsQuote(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_./:=,+@%", r)
}

// Words joins args to a command line, each one quoted.
func Words(args ...string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = Quote(a)
	}
	return strings.Join(quoted, " ")
}

// firstLine names a command in an error.
func firstLine(s string) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if more {
		return "a script"
	}
	return line
}
