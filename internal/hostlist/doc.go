// Package hostlist reads and writes Slurm host list expressions such as
// "gpu[001-016,020],login1".
//
// [Expand] turns an expression into names, [Compress] turns names into the
// shortest expression with at most one numeric range a name, which every Slurm
// release from 22.05 on can read. For names that [Check] accepts, expanding
// what Compress wrote gives the same set of names back.
//
// The grammar is Slurm's, read strictly: what Slurm would quietly turn into a
// wrong name (a missing bracket, a number too long for it) is an error here,
// with the byte offset at which it stands.
package hostlist

const (
	// MaxRange is the largest number of hosts that one "[…]" may stand for.
	MaxRange = 65536
	// MaxHosts is the largest number of names one expression may stand for;
	// it is also the largest number of nodes Slurm accepts in a cluster.
	MaxHosts = 65536
	// MaxDigits is the longest number a name may end in: Slurm reads it as an
	// unsigned long and rewrites what does not fit.
	MaxDigits = 18
	// MaxName is the longest name, in bytes.
	MaxName = 64
)
