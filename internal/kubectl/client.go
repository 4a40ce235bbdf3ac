package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// AdminConf is the administrator's kubeconfig on a control-plane host.
const AdminConf = "/etc/kubernetes/admin.conf"

// requestLimit bounds one question, so that an API server that hangs is told
// from one that is slow.
const requestLimit = "20s"

// Client asks and commands one cluster.
type Client struct {
	// Runner reaches a control-plane host.
	Runner shell.Runner
	// Progress is told what is being waited for, one line at a time; nil is
	// silence.
	Progress func(line string)
	// Poll is the pause between two looks at something that is waited for.
	// Default 1 s.
	Poll time.Duration
}

// ErrNotFound says that the cluster has no such object.
var ErrNotFound = errors.New("not found")

func (c *Client) say(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// own begins a kubectl command that asks the host's own API server, whatever
// stands before all of them: only so does its answer say something of this host,
// and a fault elsewhere nothing. Each server has that name in its certificate.
func own(args ...string) []string {
	return append([]string{"kubectl", "--kubeconfig", AdminConf, "--server", "https://127.0.0.1:6443", "--tls-server-name", "kubernetes"}, args...)
}

// run runs one kubectl command and returns its standard output.
func (c *Client) run(ctx context.Context, stdin []byte, args ...string) (string, error) {
	return c.command(ctx, stdin, own(append([]string{"--request-timeout", requestLimit}, args...)...)...)
}

// patiently runs one kubectl command that itself waits for something.
func (c *Client) patiently(ctx context.Context, args ...string) (string, error) {
	return c.command(ctx, nil, own(args...)...)
}

func (c *Client) command(ctx context.Context, stdin []byte, words ...string) (string, error) {
	out, err := c.Runner.Run(ctx, shell.Words(words...), stdin)
	var failed *shell.ExitError
	if errors.As(err, &failed) && strings.Contains(failed.Stderr, "(NotFound)") {
		return string(out), fmt.Errorf("%w: %s", ErrNotFound, strings.TrimSpace(failed.Stderr))
	}
	return string(out), err
}

// get reads objects as JSON into v.
func (c *Client) get(ctx context.Context, v any, args ...string) error {
	out, err := c.run(ctx, nil, append([]string{"get", "-o", "json"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(out), v); err != nil {
		return fmt.Errorf("reading what kubectl says: %w", err)
	}
	return nil
}

// Up asks whether the API server answers and is ready.
func (c *Client) Up(ctx context.Context) error {
	if _, err := c.run(ctx, nil, "get", "--raw", "/readyz"); err != nil {
		return fmt.Errorf("the API server does not answer: %w", err)
	}
	return nil
}

// WaitUp waits until the API server is ready, for at most limit.
func (c *Client) WaitUp(ctx context.Context, limit time.Duration) error {
	return c.until(ctx, limit, "the API server", func(ctx context.Context) error { return c.Up(ctx) })
}

// Apply makes objects what a manifest says. Fields that others own stay theirs,
// and a conflict over one is an error.
func (c *Client) Apply(ctx context.Context, manifest string) error {
	if _, err := c.run(ctx, []byte(manifest), "apply", "--server-side", "--field-manager", "gpucluster", "-f", "-"); err != nil {
		return fmt.Errorf("applying objects: %w", err)
	}
	return nil
}

// until looks again until look succeeds, ctx ends or the limit has passed; the
// error is then that of the last look.
func (c *Client) until(ctx context.Context, limit time.Duration, what string, look func(context.Context) error) error {
	pause := c.Poll
	if pause == 0 {
		pause = time.Second
	}
	end := time.Now().Add(limit)
	for said := ""; ; {
		err := look(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(end) {
			return fmt.Errorf("waiting %s for %s: %w", limit, what, err)
		}
		if text := err.Error(); text != said {
			said = text
			c.say("waiting for %s: %s", what, text)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
