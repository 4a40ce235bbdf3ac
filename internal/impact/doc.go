// Package impact says what a change of a Slurm file set costs: which daemons
// reload or restart, which hosts have to be free of jobs first, and what cannot
// be changed at all.
//
// [Compare] reads the set that was applied last and the next one, record by
// record, and gives a [Plan]. The rules are those of the release that the set
// is for: from 23.11 on a reconfigure starts new daemons from the new files and
// hands over to them, so that it takes nodes and nearly every key; below, a
// change of nodes restarts slurmctld and every slurmd, and many keys restart
// slurmctld. Where the documents leave it open, the rule is the careful one.
//
// Nothing here does I/O.
package impact
