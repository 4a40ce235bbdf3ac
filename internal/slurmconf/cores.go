package slurmconf

import (
	"fmt"
	"strconv"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// CoreList turns the CPU ids that the kernel reports as near to a GPU
// ("48-63,176-191") into the core numbers that gres.conf wants ("48-63"). It
// takes the usual numbering: the first thread of every core, socket by socket,
// then the second threads, which are left out.
func CoreList(cpus string, n Node) (string, error) {
	ids, err := hostlist.Expand("[" + cpus + "]")
	if err != nil {
		return "", fmt.Errorf("reading cpu list %q: %w", cpus, err)
	}
	cores := n.Sockets * n.CoresPerSocket
	var kept []string
	for _, text := range ids {
		id, err := strconv.Atoi(text)
		if err != nil || id >= n.CPUs() {
			return "", fmt.Errorf("reading cpu list %q: the node has %d cpus", cpus, n.CPUs())
		}
		if id < cores {
			kept = append(kept, text)
		}
	}
	if len(kept) == 0 {
		return "", fmt.Errorf("reading cpu list %q: it has second threads alone", cpus)
	}
	short := hostlist.Compress(kept)
	if short[0] == '[' {
		short = short[1 : len(short)-1]
	}
	return short, nil
}
