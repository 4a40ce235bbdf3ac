// Package judge lets the real Slurm daemons of each release decide about
// configuration files in tests.
//
// A [Judge] is one release: either the programs installed on this machine or
// those in a tree made once with mmdebstrap and kept in a cache directory
// (GPUCLUSTER_JUDGE_CACHE, else /var/cache/gpucluster/judge). Every trial runs
// in network and mount namespaces of its own, with its own state directory and
// without accounting, so it meets nothing that lives on the machine.
//
// [For] skips the test, and says why, where the release cannot be had: without
// root, without mmdebstrap, without the Debian mirror.
package judge
