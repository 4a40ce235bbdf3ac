package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gruntwork-io/terratest/modules/logger"
	"github.com/gruntwork-io/terratest/modules/retry"
	"github.com/gruntwork-io/terratest/modules/shell"
)

// commandLimit bounds one command on a host.
const commandLimit = 3 * time.Minute

// On runs a shell command as root on a host and returns its standard output
// without the last line end. It fails the test where the command fails.
func (c *Cluster) On(t testing.TB, host, command string) string {
	t.Helper()
	out, err := c.TryOn(t, host, command)
	if err != nil {
		t.Fatalf("%s: %s: %v", host, command, err)
	}
	return out
}

// TryOn is On that may fail; the error holds what the command wrote to its
// standard error.
func (c *Cluster) TryOn(t testing.TB, host, command string) (string, error) {
	t.Helper()
	return Exec(t, c.Container(host), command, "")
}

// Exec runs a shell command as root in a container, with a text for its
// standard input.
func Exec(t testing.TB, container, command, stdin string) (string, error) {
	t.Helper()
	return docker(t, stdin, "exec", "-i", container, "sh", "-c", command)
}

// As runs a shell command as a user, from the user's home, on a host.
func (c *Cluster) As(t testing.TB, host, user, command string) (string, error) {
	t.Helper()
	return docker(t, "", "exec", c.Container(host), "runuser", "-l", user, "-c", command)
}

// Docker runs a Docker command, such as restart, and fails the test where it
// fails.
func (c *Cluster) Docker(t testing.TB, words ...string) string {
	t.Helper()
	out, err := docker(t, "", words...)
	if err != nil {
		t.Fatalf("docker %s: %v", strings.Join(words, " "), err)
	}
	return out
}

func docker(t testing.TB, stdin string, words ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), commandLimit)
	defer cancel()
	stdout, stderr, err := shell.RunCommandContextAndGetStdOutErrE(t, ctx, &shell.Command{
		Command: "docker", Args: words, Stdin: strings.NewReader(stdin), Logger: logger.Discard,
	})
	if err != nil {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr))
	}
	return strings.TrimSuffix(stdout, "\n"), err
}

// Until repeats a question until it has no error, and fails the test with the
// last one after the limit.
func Until(t testing.TB, what string, limit time.Duration, ask func() error) {
	t.Helper()
	const pause = time.Second
	var last error
	_, err := retry.DoWithRetryContextE(t, t.Context(), what, int(limit/pause), pause, func() (string, error) {
		last = ask()
		return "", last
	})
	if err != nil {
		t.Fatalf("waited %s for %s: %v", limit, what, errors.Join(last))
	}
}

// A line for each question of a wait would drown what tests have to say.
func init() { logger.Default = logger.Discard }
