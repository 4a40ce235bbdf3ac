// Package lab makes containers that behave like servers: systemd as PID 1, sshd, an
// address of their own, simulated GPUs. It drives a Docker engine through the docker
// command and knows nothing of Pulumi or of what is installed on the hosts later.
//
// The usual path is: EnsureEngine, EnsureImage, EnsureNetwork, then EnsureHost once per
// host; RemoveHost and RemoveNetwork undo it. Every call states a wish, looks at what is
// there and does only what is missing, so that it may be repeated, interrupted and run by
// two processes at once. Everything made here carries the label gpucluster.lab; what does
// not carry it is never touched.
package lab

import "regexp"

// Labels on containers, networks and volumes. They are the only record of what a lab
// owns, beside its hosts file (see registry).
const (
	labelLab     = "gpucluster.lab"
	labelHost    = "gpucluster.lab.host"
	labelAddress = "gpucluster.lab.address"
	labelShape   = "gpucluster.lab.shape"
)

// namePattern is what a lab or a host may be called: a DNS label, since host names are
// made of them.
var namePattern = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// NetworkName is the name of a lab's network.
func NetworkName(lab string) string { return "gpucluster-" + lab }

// ContainerName is the name of a host's container. The dot, which no lab's name has, keeps
// host b-c of lab a apart from host c of lab a-b.
func ContainerName(lab, host string) string { return "gpucluster-" + lab + "." + host }
