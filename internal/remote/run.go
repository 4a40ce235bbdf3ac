package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// unreachableStatus is how ssh says that it, and not the command, failed.
const unreachableStatus = 255

// CommandError says that a command did not succeed on a host.
type CommandError struct {
	// Host that was asked.
	Host string
	// Command as it was given.
	Command string
	// ExitStatus of the command; -1 if the host could not be reached or the
	// command was cut off. A command's own status 255 shows as 254.
	ExitStatus int
	// Unreachable reports that the host gave no answer, refused the login or
	// showed a wrong host key: the command did not run, or its end is unknown.
	Unreachable bool
	// Gone reports that it is unreachable because nobody answers at its address.
	Gone bool
	// Via is the bastion that the connection went through, or "".
	Via string
	// Stderr is the end of what the command wrote to standard error.
	Stderr string

	cause error
}

// Error names the host, what happened and the last words of the command.
func (e *CommandError) Error() string {
	var b strings.Builder
	b.WriteString(e.Host + ": ")
	switch {
	case e.Unreachable && isRefused(e.Stderr):
		b.WriteString("no login over SSH" + e.through() + " (load the key that logs in, or correct user or host key; certificates are used through an agent)")
	case e.Unreachable:
		b.WriteString("cannot be reached over SSH" + e.through())
	case e.ExitStatus < 0:
		fmt.Fprintf(&b, "command %q was cut off: %v", shortened(e.Command), e.cause)
	default:
		fmt.Fprintf(&b, "command %q ended with status %d", shortened(e.Command), e.ExitStatus)
	}
	if e.Stderr != "" {
		b.WriteString(": " + e.Stderr)
	}
	return b.String()
}

func (e *CommandError) through() string {
	if e.Via == "" {
		return ""
	}
	return " through " + e.Via
}

// Unwrap returns what cut the command off, if something did.
func (e *CommandError) Unwrap() error { return e.cause }

// IsUnreachable reports whether err says that a host could not be reached.
func IsUnreachable(err error) bool {
	var c *CommandError
	return errors.As(err, &c) && c.Unreachable
}

// CommandLimit bounds every command. The longest that are run, jobs over
// several hosts, have limits of their own below it; what takes longer hangs, as
// on a file system whose server is away.
const CommandLimit = 20 * time.Minute

// connectPauses are waited, each once, when a host sends us away before the
// login, as sshd does with the eleventh login that is under way.
var connectPauses = []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

// Run runs a shell command as root on a host and returns its standard output.
// stdin may be nil. When ctx ends, the local ssh process ends at once and the
// error wraps the cause; the host may take a moment longer. The same happens
// after [CommandLimit]. Any other failure is a [*CommandError].
func (s *Session) Run(ctx context.Context, host, command string, stdin []byte) (string, error) {
	t, ok := s.targets[host]
	if !ok {
		return "", fmt.Errorf("%s: not a target of this session", host)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, CommandLimit, fmt.Errorf("no end within %s", CommandLimit))
	defer cancel()
	for attempt := 0; ; attempt++ {
		// What fails on the way through a bastion is told by the process that
		// jumps, which is silent in a shared connection.
		shared := attempt == 0 || t.Bastion == ""
		out, err := s.once(ctx, t, shared, command, stdin)
		var failed *CommandError
		if !errors.As(err, &failed) || !failed.Unreachable || !isBusy(failed.Stderr) || attempt == len(connectPauses) {
			return out, err
		}
		// Those who were sent away together must not come back together.
		pause := time.NewTimer(connectPauses[attempt] + rand.N(time.Second))
		select {
		case <-ctx.Done():
			pause.Stop()
			return out, err
		case <-pause.C:
		}
	}
}

// once makes one attempt to run a command, over the session's shared connection
// or over one of its own.
func (s *Session) once(ctx context.Context, t Target, shared bool, command string, stdin []byte) (string, error) {
	args := []string{"-F", s.config, "-T"}
	if !shared {
		args = append(args, "-o", "ControlPath=none", "-o", "ControlPersist=no")
	}
	cmd := exec.CommandContext(ctx, "ssh", append(args, "--", t.Name, wrapped(t, command))...)
	var stdout bytes.Buffer
	stderr := tail{limit: 2048}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &stdout, &stderr
	// The shared connection outlives the command and could hold the pipes.
	cmd.WaitDelay = 2 * time.Second

	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return stdout.String(), nil
	}
	failure := &CommandError{Host: t.Name, Command: command, ExitStatus: -1, Via: t.Bastion, Stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		failure.cause = context.Cause(ctx)
	case errors.As(err, &exit) && exit.ExitCode() == unreachableStatus:
		failure.Unreachable = true
		failure.Gone = isGone(failure.Stderr, t.Bastion != "")
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		failure.ExitStatus = exit.ExitCode()
	default:
		failure.cause = err
	}
	return stdout.String(), failure
}

// wrapped is the command as the login shell of the target gets it: as root,
// under sh, with status 255 kept free for ssh itself.
func wrapped(t Target, command string) string {
	w := "sh -c 'sh -c \"$1\"; s=$?; test $s -eq 255 && s=254; exit $s' sh " + shell.Quote(command)
	if t.User != "root" {
		return "sudo -n -- " + w
	}
	return "exec " + w
}

// shortened cuts a command to one readable line.
func shortened(command string) string {
	line, _, more := strings.Cut(strings.TrimSpace(command), "\n")
	if len(line) > 120 {
		line, more = line[:120], true
	}
	if more {
		line += " …"
	}
	return line
}

// tail keeps the last bytes that were written to it.
type tail struct {
	limit int
	kept  []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if len(t.kept) > t.limit {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-t.limit:]...)
	}
	return len(p), nil
}

// String is what was kept, without surrounding blanks.
func (t *tail) String() string { return strings.TrimSpace(string(t.kept)) }
