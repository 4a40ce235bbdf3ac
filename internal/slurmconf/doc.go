// Package slurmconf writes the files a Slurm cluster reads, byte for byte, from
// a plain description of the cluster.
//
// The usual path: fill a [Cluster], ask [Check] for every problem at once, then
// [Render] the [FileSet]. The same description always gives the same bytes: no
// time, no map order, no host name of the machine that renders. What differs
// between Slurm releases (keys, tokens, how files reach the hosts) is decided
// here, by Cluster.Version, and nowhere else.
//
// [Parse] reads Slurm's file format back, for checks and for comparing two
// sets. Secrets are never part of a set: see [WithStoragePass].
package slurmconf
