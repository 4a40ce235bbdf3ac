package kubeconf

import (
	"fmt"
	"strings"
)

// Paths on the hosts.
const (
	// Dir holds what only the toolkit's own roles and kubeadm read.
	Dir = "/etc/gpucluster-kubernetes"
	// InitPath is the configuration with which the cluster begins.
	InitPath = Dir + "/init.yaml"
	// JoinPath is the configuration with which a host joins.
	JoinPath = Dir + "/join.yaml"
	// DiscoveryPath is where [JoinPath] expects what [Discovery] writes. It is
	// there only while the host joins.
	DiscoveryPath = "/run/gpucluster-kubernetes-discovery.conf"
	// SysctlPath holds the kernel's settings.
	SysctlPath = "/etc/sysctl.d/90-gpucluster-kubernetes.conf"

	patchesDir  = Dir + "/patches"
	manifestDir = Dir + "/manifests"
	cniTemplate = Dir + "/cni.conflist"
)

// File is one rendered file.
type File struct {
	// Path on the host, absolute.
	Path string `json:"path"`
	// Content is the whole text, ending in a newline.
	Content string `json:"content"`
}

// FileSet is what the hosts of a cluster read, in a fixed order. Every file
// belongs to root and may be read by everybody.
type FileSet struct {
	// Node is the same on every host: runtime, kubelet, kernel.
	Node []File
	// Begin is for the first control plane: how the cluster begins.
	Begin []File
	// Host is what each host by name reads alone: how it joins, and what it
	// reserves. A control plane that can only be the first has no way to join.
	Host map[string][]File
	// Objects are applied to the cluster on the first control plane, in order.
	Objects []File

	first string
}

// Own returns the files of a host that not every host has.
func (s FileSet) Own(host string) []File {
	files := append([]File{}, s.Host[host]...)
	if host == s.first {
		files = append(files, s.Begin...)
		files = append(files, s.Objects...)
	}
	return files
}

const ours = "written by gpucluster"

// header is the first comment of every file. It has no time in it.
func header(name string) string {
	return fmt.Sprintf("# %s: %s. The next run replaces it: change the environment file.", name, ours)
}

// IsOurs tells whether a file's content says that it is ours.
func IsOurs(content string) bool { return strings.Contains(content, ours) }
