package slurmctl

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// File is a configuration file of the controller.
type File struct {
	// Path where it goes, absolute.
	Path string
	// Content, byte for byte.
	Content string
	// Mode, for example 0o644; 0 is that.
	Mode int64
	// Owner and Group by name. Default "root".
	Owner, Group string
}

// Placement is the placing of files by one activation.
type Placement struct {
	// ID tells it from every other placement, so that what an earlier one kept
	// is never taken for what this one replaced. Letters and digits.
	ID string
	// Files to be placed.
	Files []File
}

// Host is what an activation needs done on the controllers, besides asking
// slurmctld: for one controller [Shell] does it.
type Host interface {
	// Place puts the files where they go, each one whole or not at all, and
	// keeps those that stood there until Settle.
	Place(ctx context.Context, p Placement) error
	// Restore puts back what the Place of the same placement replaced and
	// removes what it added; where that did not come so far, nothing.
	Restore(ctx context.Context, p Placement) error
	// Settle forgets what stood there before: there is no way back any more.
	Settle(ctx context.Context, p Placement) error
	// CopyState copies slurmctld's state to its next place, and SettleState says
	// that slurmctld runs with the copy.
	CopyState(ctx context.Context, m StateMove, user string) error
	SettleState(ctx context.Context, m StateMove) error
	// StartController starts slurmctld; one that runs goes on.
	StartController(ctx context.Context) error
	// StopController stops slurmctld and waits until it is gone.
	StopController(ctx context.Context) error
}

// Shell is a Host by way of shell commands and systemd.
type Shell struct {
	// Runner reaches the host.
	Runner shell.Runner
	// Start and Stop are the commands for slurmctld. Default: systemctl. Stop
	// must return after the daemon is gone.
	Start, Stop string
}

// StartController starts slurmctld.
func (s Shell) StartController(ctx context.Context) error {
	cmd := s.Start
	if cmd == "" {
		// A unit that failed too often is refused until its count is reset.
		cmd = "systemctl reset-failed slurmctld 2>/dev/null; systemctl start slurmctld"
	}
	if _, err := s.Runner.Run(ctx, cmd, nil); err != nil {
		return fmt.Errorf("starting slurmctld: %w", err)
	}
	return nil
}

// StopController stops slurmctld.
func (s Shell) StopController(ctx context.Context) error {
	cmd := s.Stop
	if cmd == "" {
		cmd = "systemctl stop slurmctld"
	}
	if _, err := s.Runner.Run(ctx, cmd, nil); err != nil {
		return fmt.Errorf("stopping slurmctld: %w", err)
	}
	return nil
}

// Hosts are several controllers as one, in the order in which their slurmctld
// start: the primary first.
type Hosts []Host

// Place places the files on every controller.
func (h Hosts) Place(ctx context.Context, p Placement) error {
	for _, one := range h {
		if err := one.Place(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// Restore restores every controller, also after one could not be.
func (h Hosts) Restore(ctx context.Context, p Placement) error {
	var all []error
	for _, one := range h {
		all = append(all, one.Restore(ctx, p))
	}
	return errors.Join(all...)
}

// Settle settles every controller, also after one could not be.
func (h Hosts) Settle(ctx context.Context, p Placement) error {
	var all []error
	for _, one := range h {
		all = append(all, one.Settle(ctx, p))
	}
	return errors.Join(all...)
}

// StartController starts every slurmctld.
func (h Hosts) StartController(ctx context.Context) error {
	for _, one := range h {
		if err := one.StartController(ctx); err != nil {
			return err
		}
	}
	return nil
}

// StopController stops every slurmctld, the primary last: else a backup
// would take over between the two.
func (h Hosts) StopController(ctx context.Context) error {
	for i := len(h) - 1; i >= 0; i-- {
		if err := h[i].StopController(ctx); err != nil {
			return err
		}
	}
	return nil
}
