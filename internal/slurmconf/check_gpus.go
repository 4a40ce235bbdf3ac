package slurmconf

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// GPUType is a product name as Slurm writes it for a GPU it has found: lower
// case, with "_" for blanks ("Tesla T4" becomes "tesla_t4").
func GPUType(model string) string {
	return strings.Join(strings.Fields(strings.ToLower(model)), "_")
}

// checkGPUs checks a node's accelerators.
func checkGPUs(r *report, path func(string) string, n *Node, detected bool) {
	from := len(r.problems)
	used := map[string]int{}
	for i, g := range n.GPUs {
		at := fmt.Sprintf("%s[%d]", path("gpus"), i)
		checkGPUType(r, at+".type", g.Type)
		if g.Count < 1 {
			r.add(at+".count", "Count", "write how many there are", "%d GPUs of type %q", g.Count, g.Type)
		}
		if !detected {
			checkDevices(r, at, n, g, i, used)
		}
		checkCores(r, at+".cores", n, g)
		checkLinks(r, at+".links", n, g)
	}
	for i := from; i < len(r.problems); i++ {
		r.problems[i].File = "gres.conf"
	}
}

func checkGPUType(r *report, at, gpuType string) {
	switch {
	case gpuType == "":
		r.add(at, "Type", "name it, as in h100: Slurm refuses a node with and without types", "a GPU without type")
	case strings.Trim(gpuType, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != "":
		hint := "use lower case letters, digits, \"_\", \"-\" and \".\""
		if better := GPUType(gpuType); strings.Trim(better, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == "" {
			hint = "write " + better
		}
		r.add(at, "Type", hint, "GPU type %q", gpuType)
	}
}

// checkDevices checks that a set has as many device files as GPUs, and that no
// other set of the node has them.
func checkDevices(r *report, at string, n *Node, g GPUSet, i int, used map[string]int) {
	files := g.devices()
	switch {
	case len(g.MultipleFiles) > 0 && (g.Count != 1 || len(g.Files) > 0):
		r.add(at+".multipleFiles", "MultipleFiles", "make one set for each such GPU, with count 1", "multipleFiles are the files of one GPU, not of %d", g.Count)
		return
	case len(g.Files) > 0 && len(g.Files) != g.Count:
		r.add(at+".files", "File", "name one file a GPU; a GPU with several has multipleFiles", "%d files for %d GPUs", len(g.Files), g.Count)
		return
	case g.FirstDevice < 0:
		r.add(at+".firstDevice", "File", "device files count from 0", "first device %d", g.FirstDevice)
		return
	}
	for _, f := range files {
		if !strings.HasPrefix(f, "/") || hasControl(f) || strings.ContainsAny(f, " \"#\\[],") {
			r.add(at+".files", "File", "write the path of a device file", "device file %q", f)
			continue
		}
		if first, taken := used[f]; taken && len(g.MultipleFiles) == 0 {
			r.add(at, "File", "set firstDevice, so that each GPU has its own file", "%s of %s is already that of gpus[%d]", f, n.Name, first)
			return
		}
		used[f] = i
	}
}

// devices are the set's device files.
func (g GPUSet) devices() []string {
	switch {
	case len(g.MultipleFiles) > 0:
		return g.MultipleFiles
	case len(g.Files) > 0:
		return g.Files
	}
	prefix := g.DevicePrefix
	if prefix == "" {
		prefix = DefaultDevicePrefix
	}
	files := make([]string, 0, max(0, min(g.Count, hostlist.MaxRange)))
	for i := range min(g.Count, hostlist.MaxRange) {
		files = append(files, prefix+strconv.Itoa(g.FirstDevice+i))
	}
	return files
}

// checkCores checks core numbers: Slurm counts cores, not hardware threads, and
// refuses a number beyond the last core.
func checkCores(r *report, at string, n *Node, g GPUSet) {
	if g.Cores == "" {
		return
	}
	numbers, err := hostlist.Expand("[" + g.Cores + "]")
	if err != nil {
		r.add(at, "Cores", "write core numbers as 0-31 or 0-15,32-47", "cores %q", g.Cores)
		return
	}
	total := n.Sockets * n.CoresPerSocket
	for _, text := range numbers {
		core, _ := strconv.Atoi(text)
		if core < total {
			continue
		}
		hint := fmt.Sprintf("the cores are 0-%d", total-1)
		if n.ThreadsPerCore > 1 && core < n.CPUs() {
			hint += fmt.Sprintf("; %d is a second hardware thread: name only first threads", core)
		}
		r.add(at, "Cores", hint, "%s has no core %d", n.Name, core)
		return
	}
}

// checkLinks checks the links of one GPU to each GPU of the node.
func checkLinks(r *report, at string, n *Node, g GPUSet) {
	if len(g.Links) == 0 {
		return
	}
	self, bad := 0, false
	for _, l := range g.Links {
		if l == -1 {
			self++
		}
		bad = bad || l < -1
	}
	if bad || self != 1 || len(g.Links) != n.GPUCount() || g.Count != 1 {
		r.add(at, "Links", "write a number for each GPU of the node, with -1 for this one, in a set of one GPU", "links %v", g.Links)
	}
}
