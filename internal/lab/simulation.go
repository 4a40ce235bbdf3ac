package lab

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the stand-in for nvidia-smi
	"encoding/json"
	"fmt"
	"slices"
)

// deviceNode is a character device that a host has.
type deviceNode struct {
	path         string
	major, minor int
	mode         string
}

func (d deviceNode) line() string {
	return fmt.Sprintf("%s %d %d %s\n", d.path, d.major, d.minor, d.mode)
}

// Major numbers as on a server with NVIDIA's driver. That of nvidia-uvm is given out by
// the kernel there; the one here is from the range for local use.
const (
	nvidiaMajor = 195
	uvmMajor    = 241
)

// deviceNodes lists the nodes of a host. FUSE is always there: file systems such as
// GlusterFS mount through it.
func deviceNodes(gpus []simulatedGPU) []deviceNode {
	nodes := []deviceNode{{"/dev/fuse", 10, 229, "666"}}
	if len(gpus) == 0 {
		return nodes
	}
	nodes = append(nodes,
		deviceNode{"/dev/nvidiactl", nvidiaMajor, 255, "666"},
		deviceNode{"/dev/nvidia-modeset", nvidiaMajor, 254, "666"},
		deviceNode{"/dev/nvidia-uvm", uvmMajor, 0, "666"},
		deviceNode{"/dev/nvidia-uvm-tools", uvmMajor, 1, "666"})
	for _, g := range gpus {
		nodes = append(nodes, deviceNode{g.Device, nvidiaMajor, g.minor, "666"})
	}
	return nodes
}

// simulatedGPU is one GPU as the stand-in for nvidia-smi reports it.
type simulatedGPU struct {
	Index     int    `json:"index"`
	Name      string `json:"name"`
	UUID      string `json:"uuid"`
	MemoryMiB int    `json:"memoryMiB"`
	Driver    string `json:"driver"`
	BusID     string `json:"busId"`
	Device    string `json:"device"`
	minor     int
}

// gpus lists a host's simulated GPUs in the order of their device files. Their identities
// depend on lab, host and device only.
func (s HostSpec) gpus() []simulatedGPU {
	list := []simulatedGPU{}
	for _, g := range s.Hardware.GPUs {
		for n := g.FirstDevice; n < g.FirstDevice+g.Count; n++ {
			sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%d", s.Lab, s.Name, n))
			list = append(list, simulatedGPU{
				Name: g.Name, MemoryMiB: g.MemoryMiB, Driver: g.Driver, minor: n,
				UUID:   fmt.Sprintf("GPU-%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]),
				BusID:  fmt.Sprintf("%08X:%02X:00.0", (0x10+n)/0x100, (0x10+n)%0x100),
				Device: fmt.Sprintf("/dev/nvidia%d", n),
			})
		}
	}
	slices.SortFunc(list, func(a, b simulatedGPU) int { return a.minor - b.minor })
	for i := range list {
		list[i].Index = i
	}
	return list
}

// SimulatedHardware is the content of /etc/gpucluster-lab/hardware.json: what a check of
// a host's hardware is to believe instead of what the container sees of this machine.
type SimulatedHardware struct {
	// Simulated is always true. It is there for whoever reads the file on a host.
	Simulated bool `json:"simulated"`
	// Sockets, CoresPerSocket, ThreadsPerCore and MemoryMiB are as in Hardware.
	Sockets        int `json:"sockets,omitempty"`
	CoresPerSocket int `json:"coresPerSocket,omitempty"`
	ThreadsPerCore int `json:"threadsPerCore,omitempty"`
	MemoryMiB      int `json:"memoryMiB,omitempty"`
}

// HardwareFile is where a lab host says what it pretends to be. No real server has it.
const HardwareFile = etcDir + "/hardware.json"

func (s HostSpec) hardwareJSON() []byte {
	h := s.Hardware
	return indented(SimulatedHardware{Simulated: true, Sockets: h.Sockets, CoresPerSocket: h.CoresPerSocket,
		ThreadsPerCore: h.ThreadsPerCore, MemoryMiB: h.MemoryMiB})
}

func (s HostSpec) gpusJSON() []byte {
	return indented(map[string]any{"simulated": true, "gpus": s.gpus()})
}

func indented(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // only plain values come here
	}
	return b.Bytes()
}
