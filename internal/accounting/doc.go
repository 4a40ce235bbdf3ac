// Package accounting brings what a Slurm accounting database holds for a
// cluster in line with what an environment declares: qualities of service, the
// tree of accounts, users and what they may charge, with limits and shares.
//
// The usual path is [Apply]. It reads the database ([Observe]), computes the
// difference ([Diff], pure), and runs the sacctmgr commands in an order that
// holds at every point: what is referred to is made first, what refers is
// removed first. A second run runs no command.
//
// A [Ledger] on the controller remembers what was made here, written before
// anything is made. Only what it lists is ever removed. What existed before and
// is declared too is adopted: the fields that the environment states are set, the
// others are left alone, and it is never removed. All else is reported.
package accounting
