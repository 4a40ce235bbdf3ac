package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Files by which a host of the lab says what it pretends to have.
const (
	hardwareFile = "/etc/gpucluster-lab/hardware.json"
	gpusFile     = "/etc/gpucluster-lab/gpus.json"
)

// sharedDevices are those that every container with a GPU gets, where the host has them.
var sharedDevices = []string{"/dev/nvidiactl", "/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"}

// host is the lab host whose GPUs are handed out.
type host struct {
	// root is where its files are seen.
	root string
}

// gpu is one simulated GPU.
type gpu struct {
	UUID   string `json:"uuid"`
	Device string `json:"device"`
}

// check refuses a server that does not say that it is simulated: real GPUs are another plugin's.
func (h host) check() error {
	var hardware struct {
		Simulated bool `json:"simulated"`
	}
	if err := h.read(hardwareFile, &hardware); err != nil {
		return fmt.Errorf("this is no host of the lab: %w", err)
	}
	if !hardware.Simulated {
		return fmt.Errorf("this is no host of the lab: %s does not say that it is simulated", hardwareFile)
	}
	return nil
}

// gpus lists what the host has now; the lab may change it while the host runs.
func (h host) gpus() ([]gpu, error) {
	var list struct {
		GPUs []gpu `json:"gpus"`
	}
	err := h.read(gpusFile, &list)
	return list.GPUs, err
}

// devices lists the GPUs for the kubelet. One without its device file is there, and not healthy.
func (h host) devices() ([]*api.Device, error) {
	list, err := h.gpus()
	if err != nil {
		return nil, err
	}
	devices := make([]*api.Device, 0, len(list))
	for _, g := range list {
		health := api.Unhealthy
		if h.hasDevice(g.Device) {
			health = api.Healthy
		}
		devices = append(devices, &api.Device{ID: g.UUID, Health: health})
	}
	return devices, nil
}

func (h host) hasDevice(path string) bool {
	info, err := os.Stat(filepath.Join(h.root, path))
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (h host) read(path string, into any) error {
	text, err := os.ReadFile(filepath.Join(h.root, path))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}
