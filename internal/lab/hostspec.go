package lab

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// HostSpec asks for a host of a lab.
type HostSpec struct {
	// Lab is the lab's name; its network must exist.
	Lab string `json:"lab"`
	// Name is the host's name, a DNS label of at most 40 characters.
	Name string `json:"name"`
	// Image is what EnsureImage returned. Another image makes the host anew.
	Image string `json:"image"`
	// AuthorizedKey is the public key, one line, that may log in as root.
	AuthorizedKey string `json:"authorizedKey,omitempty"`
	// SudoUser gives the user ops the same key and sudo without a password.
	SudoUser bool `json:"sudoUser,omitempty"`
	// Hardware is what the host pretends to have.
	Hardware Hardware `json:"hardware"`
	// Volumes are absolute paths kept on volumes of their own instead of the container's
	// layered file system, such as /var/lib/containerd and /var/lib/kubelet. They go with
	// the host. A change makes the host anew.
	Volumes []string `json:"volumes,omitempty"`
}

// Hardware is a simulated server. Nothing limits the host to it: it is what the host's
// nvidia-smi and /etc/gpucluster-lab/hardware.json say. Zero CPU and memory values mean
// that the host pretends nothing there.
type Hardware struct {
	// Sockets is the number of CPU sockets.
	Sockets int `json:"sockets,omitempty"`
	// CoresPerSocket is the number of cores of each socket.
	CoresPerSocket int `json:"coresPerSocket,omitempty"`
	// ThreadsPerCore is the number of hardware threads of each core.
	ThreadsPerCore int `json:"threadsPerCore,omitempty"`
	// MemoryMiB is the memory in MiB.
	MemoryMiB int `json:"memoryMiB,omitempty"`
	// GPUs are the simulated GPUs, a group for each kind.
	GPUs []GPUs `json:"gpus,omitempty"`
}

// GPUs are simulated NVIDIA GPUs of a host, all alike. /dev/nvidia0 and so on exist and can
// be allowed or denied like real ones, but cannot be opened by anything that would compute.
type GPUs struct {
	// Count is how many there are. A host has at most 64.
	Count int `json:"count"`
	// FirstDevice is the number of the first one's device file.
	FirstDevice int `json:"firstDevice,omitempty"`
	// Name is the product name. Default "NVIDIA H100 80GB HBM3".
	Name string `json:"name,omitempty"`
	// MemoryMiB is the memory of each in MiB. Default 81559.
	MemoryMiB int `json:"memoryMiB,omitempty"`
	// Driver is the driver's version. Default "570.86.15".
	Driver string `json:"driver,omitempty"`
}

// HostInfo is a lab host as it is. It is the same at each call as long as the host is.
type HostInfo struct {
	// Name of the host.
	Name string `json:"name"`
	// Address is its IPv4 address: the lowest free one of the lab's subnet from .10 on,
	// kept as long as the host exists.
	Address string `json:"address"`
	// Port of sshd.
	Port int `json:"port"`
	// User who may log in with the key.
	User string `json:"user"`
	// HostKey is sshd's public key, "ssh-ed25519 …", as it goes into known_hosts.
	HostKey string `json:"hostKey"`
	// Container is the name of the container.
	Container string `json:"container"`
	// Instance changes when the host is made anew and has lost what was installed on it.
	Instance string `json:"instance"`
}

const (
	defaultGPUName      = "NVIDIA H100 80GB HBM3"
	defaultGPUMemoryMiB = 81559
	defaultGPUDriver    = "570.86.15"
	maxGPUs             = 64
)

// withDefaults fills in what a spec leaves out, in a form in which equal wishes are equal.
func (s HostSpec) withDefaults() HostSpec {
	s.Hardware.GPUs = slices.Clone(s.Hardware.GPUs)
	for i := range s.Hardware.GPUs {
		g := &s.Hardware.GPUs[i]
		if g.Name == "" {
			g.Name = defaultGPUName
		}
		if g.MemoryMiB == 0 {
			g.MemoryMiB = defaultGPUMemoryMiB
		}
		if g.Driver == "" {
			g.Driver = defaultGPUDriver
		}
	}
	s.Volumes = slices.Clone(s.Volumes)
	slices.Sort(s.Volumes)
	s.Volumes = slices.Compact(s.Volumes)
	s.AuthorizedKey = strings.TrimSpace(s.AuthorizedKey)
	return s
}

// validate reports everything that is wrong with a spec.
func (s HostSpec) validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !namePattern.MatchString(s.Lab) {
		bad("lab: %q is not a DNS label of at most 40 characters", s.Lab)
	}
	if !namePattern.MatchString(s.Name) {
		bad("name: %q is not a DNS label of at most 40 characters", s.Name)
	}
	if s.Name == ArtifactsName {
		bad("name: %q is the name of the lab's own server of artifacts", s.Name)
	}
	if s.Image == "" {
		bad("image: is empty")
	}
	if _, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(s.AuthorizedKey)); err != nil || len(rest) > 0 {
		bad("authorizedKey: is not one public key")
	}
	h := s.Hardware
	if h.Sockets < 0 || h.CoresPerSocket < 0 || h.ThreadsPerCore < 0 || h.MemoryMiB < 0 {
		bad("hardware: has a negative number")
	}
	count, devices := 0, map[int]bool{}
	for i, g := range h.GPUs {
		if g.Count < 0 || g.FirstDevice < 0 || g.MemoryMiB < 0 {
			bad("hardware.gpus[%d]: has a negative number", i)
			continue
		}
		count += g.Count
		for n := g.FirstDevice; n < g.FirstDevice+min(g.Count, maxGPUs); n++ {
			if devices[n] {
				bad("hardware.gpus[%d]: /dev/nvidia%d is that of another GPU", i, n)
				break
			}
			devices[n] = true
		}
	}
	if count > maxGPUs {
		bad("hardware.gpus: %d GPUs are more than %d", count, maxGPUs)
	}
	for i, v := range s.Volumes {
		if !strings.HasPrefix(v, "/") || v == "/" || strings.ContainsAny(v, ",:\n") || strings.Contains(v, "..") {
			bad("volumes[%d]: %q is not an absolute path", i, v)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("lab host %q: %w", s.Name, err)
	}
	return nil
}
