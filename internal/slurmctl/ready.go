package slurmctl

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Held says that a node is kept from jobs by somebody other than us.
type Held struct {
	// Node that is held, with its State and the Reason given by User.
	Node         string
	State        State
	Reason, User string
}

func (e *Held) Error() string {
	return fmt.Sprintf("%s is %s by %s: %s", e.Node, e.State, e.User, e.Reason)
}

// NotReady says that a node could not take jobs in time.
type NotReady struct {
	// Node that was waited for; its last State and Reason.
	Node   string
	State  State
	Reason string
	// Waited is how long.
	Waited time.Duration
}

func (e *NotReady) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s is %s after %s", e.Node, e.State, e.Waited)
	}
	return fmt.Sprintf("%s is %s after %s: %s", e.Node, e.State, e.Waited, e.Reason)
}

// WaitReady waits, for at most limit, until the node's slurmd answers and a job
// could start on it. Drains of ours are lifted and a node that Slurm itself
// set down is resumed: so the node must be closed, or trusted. A drain or
// failure that somebody else declared is left alone and is a [*Held] at once;
// the end of the wait is a [*NotReady].
func (c *Client) WaitReady(ctx context.Context, node string, limit time.Duration) error {
	until := time.Now().Add(limit)
	said := ""
	for wait := c.pauses(); ; {
		found, err := c.NodesNamed(ctx, []string{node})
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", node, err)
		}
		n := found[0]
		if n.State.Usable() {
			return nil
		}
		if heldByOthers(n) {
			return &Held{Node: node, State: n.State, Reason: n.Reason, User: n.ReasonUser}
		}
		if time.Now().After(until) {
			return &NotReady{Node: node, State: n.State, Reason: n.Reason, Waited: limit}
		}
		if err := c.admit(ctx, n); err != nil {
			return fmt.Errorf("admitting %s: %w", node, err)
		}
		if now := n.State.String(); now != said {
			c.say("%s is %s; waiting for its slurmd, at most until %s", node, now, until.Format(time.TimeOnly))
			said = now
		}
		if err := wait(ctx); err != nil {
			return fmt.Errorf("waiting for %s: %w", node, err)
		}
	}
}

// heldByOthers tells whether a person keeps the node from jobs. Slurm itself
// drains and downs nodes as its own user, and such a state may go.
func heldByOthers(n Node) bool {
	stopped := n.State.Has(FlagDrain) || n.State.Has("FAIL") || n.State.Base == BaseDown
	if !stopped || n.State.Has(FlagInvalid) || n.Reason == "" {
		return false
	}
	return !strings.HasPrefix(n.Reason, ReasonPrefix) && n.ReasonUser != "slurm"
}

// admit lifts what keeps a node that answers from jobs, where it is ours or
// Slurm's own.
func (c *Client) admit(ctx context.Context, n Node) error {
	switch {
	case n.State.Has(FlagInvalid):
		return nil // its slurmd must register with what is configured first
	case n.State.Has(FlagDrain) && strings.HasPrefix(n.Reason, ReasonPrefix):
		_, err := c.Undrain(ctx, []string{n.Name}, ReasonPrefix)
		return err
	case !n.State.Responding():
		// A node that fell silent is asked again by slurmctld; only a state
		// of DOWN stays by itself.
		if n.State.Base != BaseDown {
			return nil
		}
	case n.State.Base != BaseDown && !n.State.Has(FlagDrain) && !n.State.Has("FAIL"):
		return nil
	}
	return c.update(ctx, []string{n.Name}, "State=RESUME")
}
