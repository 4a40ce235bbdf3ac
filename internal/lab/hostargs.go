package lab

import (
	"net/netip"
	"strings"
)

// guestDir holds the lab's own programs inside a host, etcDir what they read.
const (
	guestDir = "/usr/local/lib/gpucluster-lab"
	etcDir   = "/etc/gpucluster-lab"
)

// shape is a digest of what cannot be changed while a container exists.
func (s HostSpec) shape() string {
	return digest("1", s.Image, s.Volumes)
}

// volumeName is the name of the volume for one path of a host.
func volumeName(lab, host, path string) string {
	return ContainerName(lab, host) + "." + digest(path)
}

// heldCaps are kept from hosts: they reach through to the machine's only clock and kernel.
var heldCaps = []string{"SYS_MODULE", "SYS_TIME"}

// createArgs are the arguments of `docker create` for a host. What they grant makes the
// container behave like a server: systemd may mount and manage cgroups, daemons may make
// devices, mount file systems and set addresses. --privileged is not used: it fails where
// the machine itself lacks a capability, and shows the machine's devices to the host.
func createArgs(s HostSpec, address netip.Addr, hostsFile string, lackedCaps []string) []string {
	args := []string{
		"create", "--pull", "never",
		"--name", ContainerName(s.Lab, s.Name),
		"--hostname", s.Name,
		"--network", NetworkName(s.Lab),
		"--network-alias", s.Name,
		"--ip", address.String(),
		"--label", labelLab + "=" + s.Lab,
		"--label", labelHost + "=" + s.Name,
		"--label", labelAddress + "=" + address.String(),
		"--label", labelShape + "=" + s.shape(),
		"--restart", "unless-stopped",
		"--stop-signal", "SIGRTMIN+3", // systemd's own word for a clean power-off
		"--stop-timeout", "20",
		"--cap-add", "ALL",
	}
	for _, name := range append(lackedCaps, heldCaps...) {
		args = append(args, "--cap-drop", name)
	}
	args = append(args,
		"--security-opt", "seccomp=unconfined",
		"--security-opt", "apparmor=unconfined",
		"--security-opt", "systempaths=unconfined",
		"--device-cgroup-rule", "a *:* rwm",
		"--cgroupns", "private",
		"--shm-size", "1g",
		"--tmpfs", "/run:mode=755",
		"--tmpfs", "/run/lock",
		"--tmpfs", "/tmp:exec,mode=1777",
		"--mount", "type=bind,src="+hostsFile+",dst=/etc/hosts",
		"-e", "container=docker",
	)
	for _, path := range s.Volumes {
		args = append(args, "--mount", "type=volume,src="+volumeName(s.Lab, s.Name, path)+",dst="+path)
	}
	return append(args, s.Image, guestDir+"/init")
}

// devices lists the device nodes of a host, one a line: path, major, minor, mode.
func (s HostSpec) devices() string {
	var b strings.Builder
	for _, d := range deviceNodes(s.gpus()) {
		b.WriteString(d.line())
	}
	return b.String()
}
