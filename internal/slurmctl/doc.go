// Package slurmctl talks to a live Slurm: it reads what slurmctld knows
// (nodes, jobs, reservations, partitions), drains and admits hosts, and
// activates a new file set without losing a job.
//
// The usual path is [Activate] when the file set changes, then, for each host
// that joins, [Client.Validate] inside its closure and [Client.Open]. Hosts
// that leave are drained by Activate itself, before the controller forgets
// them: on a reload slurmctld aborts the jobs of a node that vanished or
// changed its shape.
//
// Every command goes through a [shell.Runner], so that the package needs no ssh and
// its tests run it against real daemons. The parsers are pure. What this
// package drains carries the reason prefix [ReasonPrefix], and only such
// drains are ever lifted.
package slurmctl
