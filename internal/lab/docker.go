package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// docker runs the docker command. Any client works with any engine here: only verbs and
// flags that Debian's 20.10 knows are used.
type docker struct {
	path string
}

// CommandError is a docker command that failed.
type CommandError struct {
	// Verb is the docker subcommand, such as "network create".
	Verb string
	// Stderr is what it printed, trimmed.
	Stderr string
	// Err is why the process failed.
	Err error
}

func (e *CommandError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("docker %s: %v", e.Verb, e.Err)
	}
	return fmt.Sprintf("docker %s: %s", e.Verb, e.Stderr)
}

// Unwrap returns the process's own error.
func (e *CommandError) Unwrap() error { return e.Err }

// missing tells whether an error says that the thing named does not exist.
func missing(err error) bool {
	if err == nil {
		return false
	}
	s := strings.ToLower(err.Error())
	return strings.Contains(s, "no such") || strings.Contains(s, "not found") || strings.Contains(s, "could not find")
}

// run executes docker with arguments and returns its standard output.
func (d docker) run(ctx context.Context, args ...string) (string, error) {
	return d.runIn(ctx, nil, args...)
}

// runIn is run with something on standard input. Secrets travel this way only.
func (d docker) runIn(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	var out bytes.Buffer
	err := d.stream(ctx, stdin, &out, nil, args...)
	return strings.TrimSpace(out.String()), err
}

// stream is runIn with the output going to writers; a nil stderr keeps it for the error.
func (d docker) stream(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, d.path, args...)
	var kept bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &kept
	if stderr != nil {
		cmd.Stderr = io.MultiWriter(&kept, stderr)
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return &CommandError{Verb: verb(args), Stderr: lastLines(kept.String(), 5), Err: err}
	}
	return nil
}

// verb is the part of a docker command line that is safe and useful to print: the
// subcommand without flags and operands.
func verb(args []string) string {
	if len(args) == 0 {
		return ""
	}
	switch args[0] {
	case "network", "volume", "image", "container":
		if len(args) > 1 {
			return args[0] + " " + args[1]
		}
	}
	return args[0]
}

// lastLines keeps the end of a long text.
func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	return strings.Join(lines, "\n")
}
