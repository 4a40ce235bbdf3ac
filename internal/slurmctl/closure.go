package slurmctl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// closurePrefix begins the name of every closure.
const closurePrefix = "gpucluster-closed-"

// ClosureName is the name of the reservation that closes a node.
func ClosureName(node string) string { return closurePrefix + node }

// Close keeps everybody's jobs but root's from the nodes, by one maintenance
// reservation a node. Jobs that run there go on. A node that is closed already
// stays so. slurmctld must know the nodes; their slurmd need not run, and for
// a host that joins it must not run before.
func (c *Client) Close(ctx context.Context, nodes []string) error {
	open, err := c.withClosure(ctx, nodes, false)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(open, closureBatch) {
		var script strings.Builder
		script.WriteString("set -e\n")
		for _, n := range some {
			script.WriteString(shell.Words("scontrol", "create", "reservation", "ReservationName="+ClosureName(n),
				"StartTime=now", "Duration=UNLIMITED", "Users=root", "Flags=MAINT,IGNORE_JOBS", "Nodes="+n) + " >/dev/null\n")
		}
		if _, err := c.Runner.Run(ctx, script.String(), nil); err != nil {
			return fmt.Errorf("closing %s: %w", hostlist.Compress(some), err)
		}
	}
	return nil
}

// closureBatch bounds the nodes of one script: the system takes a command of
// 128 KiB at most.
const closureBatch = 200

// Closed lists which of the nodes are closed.
func (c *Client) Closed(ctx context.Context, nodes []string) ([]string, error) {
	return c.withClosure(ctx, nodes, true)
}

// withClosure lists those of the nodes that have (or lack) a closure.
func (c *Client) withClosure(ctx context.Context, nodes []string, want bool) ([]string, error) {
	all, err := c.Reservations(ctx)
	if err != nil {
		return nil, err
	}
	have := map[string]bool{}
	for _, r := range all {
		have[r.Name] = true
	}
	var match []string
	for _, n := range nodes {
		if have[ClosureName(n)] == want {
			match = append(match, n)
		}
	}
	return match, nil
}

// Open lets jobs on the nodes again. A node that is open already stays so.
// Slurm keeps a reservation while a job in it ends; Open waits for that, at most
// half a minute.
func (c *Client) Open(ctx context.Context, nodes []string) error {
	until := time.Now().Add(30 * time.Second)
	for wait := c.pauses(); ; {
		closed, err := c.withClosure(ctx, nodes, true)
		if err != nil || len(closed) == 0 {
			return err
		}
		var last error
		for some := range slices.Chunk(closed, closureBatch) {
			last = errors.Join(last, c.open(ctx, some))
		}
		if last == nil {
			return nil
		}
		var failed *shell.ExitError
		if !errors.As(last, &failed) || time.Now().After(until) {
			return fmt.Errorf("opening %s: %w", hostlist.Compress(closed), last)
		}
		if err := wait(ctx); err != nil {
			return err
		}
	}
}

func (c *Client) open(ctx context.Context, closed []string) error {
	var script strings.Builder
	script.WriteString("rc=0\n")
	for _, n := range closed {
		script.WriteString(shell.Words("scontrol", "delete", "ReservationName="+ClosureName(n)) + " || rc=1\n")
	}
	script.WriteString("exit $rc\n")
	_, err := c.Runner.Run(ctx, script.String(), nil)
	return err
}
