package slurmctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Client asks and commands one slurmctld.
type Client struct {
	// Runner reaches the controller's host.
	Runner shell.Runner
	// Progress is told what is being waited for, one line at a time; nil is
	// silence.
	Progress func(line string)
	// Poll is the longest pause between two looks at something that is waited
	// for; the first ones are shorter. Default 2 s.
	Poll time.Duration
}

func (c *Client) say(format string, args ...any) {
	if c.Progress != nil {
		c.Progress(fmt.Sprintf(format, args...))
	}
}

// firstPause is short: a daemon that was started answers within a second, and
// a user waits for it.
const firstPause = 200 * time.Millisecond

// pauses returns a pause for a loop that waits. Much of what is waited for is
// there at once and the rest takes minutes, so each pause is half as long again
// as the one before, up to Poll.
func (c *Client) pauses() func(context.Context) error {
	longest := orDefault(c.Poll, 2*time.Second)
	next := min(firstPause, longest)
	return func(ctx context.Context) error {
		t := time.NewTimer(next)
		defer t.Stop()
		next = longer(next, longest)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return nil
		}
	}
}

func longer(pause, longest time.Duration) time.Duration { return min(pause*3/2, longest) }

// output runs a command made of args and returns its standard output.
func (c *Client) output(ctx context.Context, args ...string) (string, error) {
	out, err := c.Runner.Run(ctx, shell.Words(args...), nil)
	return string(out), err
}

// ErrDown says that no slurmctld answers.
var ErrDown = errors.New("slurmctld does not answer")

// Ping asks whether a slurmctld answers. It returns nil, an error that is
// [ErrDown], or what kept it from asking.
func (c *Client) Ping(ctx context.Context) error {
	out, err := c.output(ctx, "scontrol", "ping")
	// "Slurmctld(primary) at ctl1 is UP", a line for each controller; the
	// status is 1 when one of them is down, which is no failure.
	if strings.Contains(out, " is UP") {
		return nil
	}
	var failed *shell.ExitError
	switch {
	case err == nil, errors.As(err, &failed) && strings.Contains(out, " is DOWN"):
		return ErrDown
	case errors.As(err, &failed):
		return fmt.Errorf("%w: %s", ErrDown, strings.TrimSpace(failed.Stderr))
	}
	return fmt.Errorf("asking slurmctld: %w", err)
}

// WaitUp waits until a slurmctld answers, for at most limit.
func (c *Client) WaitUp(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var last error
	for wait := c.pauses(); ; {
		err := c.Ping(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		if wait(ctx) != nil {
			if last == nil {
				last = ctx.Err()
			}
			return fmt.Errorf("waiting %s for slurmctld: %w", limit, last)
		}
	}
}

// Version of the running slurmctld, such as "24.11.5".
func (c *Client) Version(ctx context.Context) (string, error) {
	return c.setting(ctx, "SLURM_VERSION")
}

// setting is one line of what the running slurmctld was configured with.
func (c *Client) setting(ctx context.Context, key string) (string, error) {
	out, err := c.output(ctx, "scontrol", "show", "config")
	if err != nil {
		return "", fmt.Errorf("asking slurmctld for its configuration: %w", err)
	}
	for _, line := range lines(out) {
		k, v, ok := strings.Cut(line, "=")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			return strings.TrimSpace(v), nil
		}
	}
	return "", fmt.Errorf("slurmctld's configuration has no %s", key)
}

// Reconfigure makes slurmctld read its files again. From 23.11 on a bad file
// is refused and the old configuration stays; before, it ends the daemon.
func (c *Client) Reconfigure(ctx context.Context) error {
	if _, err := c.output(ctx, "scontrol", "reconfigure"); err != nil {
		return fmt.Errorf("making slurmctld read its files again: %w", err)
	}
	return nil
}
