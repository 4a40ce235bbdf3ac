// Package slurmtest runs real Slurm daemons for tests: munged, slurmctld, any
// number of slurmd and, where asked, MariaDB and slurmdbd, of each release that
// the product supports.
//
// [Start] makes a [Sandbox]: a private copy-on-write view of a Debian root
// file system in its own mount, process, host name and network namespaces. What runs inside sees a host called ctl1 that no
// network leads to, writes go to memory, and killing the sandbox's first
// process ends everything in it. Nothing of the machine is touched.
//
// Release 22.05 uses the machine itself (Debian 12); newer ones use the root
// file systems under [Roots]. A test skips where root rights, the name
// spaces or the packages are missing.
package slurmtest
