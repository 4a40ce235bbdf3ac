package slurmconf_test

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// TestCaseS01: device files and memory are always written; slurmd does not
// start where a device is missing.
func TestCaseS01(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("ml-1", "h100", 8)))
		has(t, set, "gres.conf", "NodeName=ml-1 Name=gpu Type=h100 Count=8 File=/dev/nvidia[0-7]")
		if !strings.Contains(set.Content("slurm.conf"), "RealMemory=64000") {
			t.Error("no RealMemory")
		}
		if j.Version != slurmconf.V2205 {
			return // slurmd waits 20 s for a device: once is enough
		}
		if out, ok := j.GRES(t, set, "ml-1", "/dev/nvidia0"); ok || !strings.Contains(out, "/dev/nvidia0") {
			t.Errorf("slurmd without the device: ok %v\n%s", ok, out)
		}
	})
}

// TestCaseS02: hosts with other counts in one range get lines of their own.
func TestCaseS02(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		var nodes []slurmconf.Node
		for _, name := range expand(t, "gpu[001-016]") {
			count := 8
			if name == "gpu005" || name == "gpu011" {
				count = 4
			}
			nodes = append(nodes, gpuNode(name, "h100", count))
		}
		set := render(t, cluster(j.Version, nodes...))
		const shape = " Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Gres=gpu:h100:"
		has(t, set, "slurm.conf", "NodeName=gpu[001-004,006-010,012-016]"+shape+"8", "NodeName=gpu[005,011]"+shape+"4")
		has(t, set, "gres.conf",
			"NodeName=gpu[001-004,006-010,012-016] Name=gpu Type=h100 Count=8 File=/dev/nvidia[0-7]",
			"NodeName=gpu[005,011] Name=gpu Type=h100 Count=4 File=/dev/nvidia[0-3]")
		loaded(t, j, set)
		for name, want := range map[string]int{"gpu001": 8, "gpu005": 4} {
			if out, ok := j.GRES(t, set, name); !ok || gpus(out) != want {
				t.Errorf("%s has %d GPUs, ok %v; want %d\n%s", name, gpus(out), ok, want, out)
			}
		}
	})
}

// TestCaseS03: detection and records without files exclude each other.
func TestCaseS03(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, gpuNode("n1", "h100", 2))
		c.GPUAutoDetect = "nvml"
		set := render(t, c)
		has(t, set, "gres.conf", "NodeName=n1 AutoDetect=nvml")
		hasNot(t, set, "gres.conf", "Name=gpu")
		loaded(t, j, set)
		bare := with(set, "gres.conf", "AutoDetect=nvml\nName=gpu\nName=gpu\n")
		if out, ok := j.GRES(t, bare, "n1"); ok || !strings.Contains(out, "duplicate records") {
			t.Errorf("slurmd with bare records: ok %v\n%s", ok, out)
		}
	})
}

// TestCaseS05: GPUs of nodes that come and go are known to the controller.
func TestCaseS05(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		var nodes []slurmconf.Node
		for _, name := range expand(t, "w[1-4]") {
			n := gpuNode(name, "t4", 2)
			n.State = "CLOUD"
			nodes = append(nodes, n)
		}
		c := cluster(j.Version, nodes...)
		if j.Version == slurmconf.V2205 { // which hides nodes that are away
			c.Extra = extraKeys("slurm.conf", map[string]string{"PrivateData": "cloud"})
		}
		set := render(t, c)
		has(t, set, "gres.conf", "NodeName=w[1-4] Name=gpu Type=t4 Count=2 File=/dev/nvidia[0-1]")
		verdict, answers := j.Ask(t, set, []string{"show", "node", "w3"})
		if !verdict.Loaded || !strings.Contains(answers[0], "Gres=gpu:t4:2") {
			t.Errorf("loaded %v: %s", verdict.Loaded, answers[0])
		}
		for _, f := range set.Files {
			if f.Name == "gres.conf" && (!f.Pushed || len(f.On) == 0 || f.On[0] != slurmconf.OnControllers) {
				t.Errorf("gres.conf is on %v, pushed %v", f.On, f.Pushed)
			}
		}
	})
}

// TestCaseS06: a host without GPUs is not asked for device files.
func TestCaseS06(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("cpu1", "", 0), gpuNode("cpu2", "", 0), gpuNode("gpu1", "a100", 1)))
		for _, line := range strings.Split(strings.TrimSpace(set.Content("gres.conf")), "\n") {
			if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "NodeName=gpu1 ") {
				t.Errorf("record for every host: %s", line)
			}
		}
		if out, ok := j.GRES(t, set, "cpu1", "/dev/nvidia0"); !ok {
			t.Errorf("slurmd on cpu1:\n%s", out)
		}
		if j.Version != slurmconf.V2205 {
			return // slurmd waits 20 s for a device: once is enough
		}
		all := swap(t, set, "gres.conf", "NodeName=gpu1 ", "")
		if out, ok := j.GRES(t, all, "gpu1", "/dev/nvidia0"); ok {
			t.Errorf("slurmd with a record for every host ended well:\n%s", out)
		}
	})
}

// TestCaseS08: what Slurm cannot detect by is an error; it would log a line and
// go on with no GPU.
func TestCaseS08(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, gpuNode("n1", "mi300", 2))
		c.GPUAutoDetect = "amdgpu"
		reported(t, c, "gpuAutoDetect", "rsmi for AMD")
		c.GPUAutoDetect = "rsmi"
		set := render(t, c)
		out, _ := j.GRES(t, swap(t, set, "gres.conf", "AutoDetect=rsmi", "AutoDetect=amdgpu"), "n1")
		if !strings.Contains(out, "amdgpu") || gpus(out) != 0 {
			t.Errorf("slurmd on an unknown detection: %s", out)
		}
	})
}

// TestCaseS09: a GPU that gres.conf names is in slurm.conf too; Slurm
// ignores it otherwise.
func TestCaseS09(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "a40", 2)))
		has(t, set, "slurm.conf", "GresTypes=gpu")
		without := swap(t, swap(t, set, "slurm.conf", "GresTypes=gpu\n", ""), "slurm.conf", " Gres=gpu:a40:2", "")
		if out, _ := j.GRES(t, without, "n1"); gpus(out) != 0 {
			t.Errorf("slurmd without GresTypes: %s", out)
		}
	})
}

// TestCaseS10: detection adds nothing that the node does not declare.
func TestCaseS10(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, gpuNode("n1", "a40", 2))
		c.GPUAutoDetect = "nvml"
		set := render(t, c)
		if !strings.Contains(set.Content("slurm.conf"), "Gres=gpu:a40:2") {
			t.Error("detection, and no Gres on the node")
		}
		fake := "a40|16|0-7|-1,0|/dev/nvidia0\na40|16|8-15|0,-1|/dev/nvidia1\n"
		if out, ok := j.GRES(t, with(set, "fake_gpus.conf", fake), "n1"); !ok || gpus(out) != 2 {
			t.Errorf("%d GPUs detected, ok %v; want 2\n%s", gpus(out), ok, out)
		}
		undeclared := swap(t, with(set, "fake_gpus.conf", fake), "slurm.conf", " Gres=gpu:a40:2", "")
		if out, _ := j.GRES(t, undeclared, "n1"); gpus(out) != 0 {
			t.Errorf("%d GPUs that the node does not declare\n%s", gpus(out), out)
		}
	})
}

// TestCaseS12: cores near a GPU are core numbers, not ids of hardware threads.
func TestCaseS12(t *testing.T) {
	node := slurmconf.Node{Name: "n1", Sockets: 2, CoresPerSocket: 64, ThreadsPerCore: 2, RealMemoryMiB: 500000}
	cores, err := slurmconf.CoreList("48-63,176-191", node)
	if err != nil || cores != "48-63" {
		t.Fatalf("CoreList = %q, %v; want 48-63", cores, err)
	}
	for _, bad := range []string{"", "a", "300", "128-255"} {
		if got, err := slurmconf.CoreList(bad, node); err == nil {
			t.Errorf("CoreList(%q) = %q; want an error", bad, got)
		}
	}
	node.GPUs = []slurmconf.GPUSet{{Type: "a100", Count: 1, Cores: "48-63,176-191"}}
	reported(t, cluster(slurmconf.V2411, node), "nodes[0].gpus[0].cores", "second hardware thread")
	every(t, func(t *testing.T, j *judge.Judge) {
		node := node
		node.GPUs = []slurmconf.GPUSet{{Type: "a100", Count: 1, Cores: cores}}
		set := render(t, cluster(j.Version, node))
		if out, ok := j.GRES(t, set, "n1"); !ok || gpus(out) != 1 || !strings.Contains(out, "Cores=48-63") {
			t.Errorf("slurmd on cores 48-63: ok %v\n%s", ok, out)
		}
		if out, ok := j.GRES(t, swap(t, set, "gres.conf", "Cores=48-63", "Cores=48-63,176-191"), "n1"); !strings.Contains(out, "Invalid GRES data for gpu, Cores=48-63,176-191") {
			t.Errorf("slurmd on ids of threads: ok %v\n%s", ok, out)
		}
	})
}

// TestCaseS13: links are a number for each GPU, or absent.
func TestCaseS13(t *testing.T) {
	node := gpuNode("n1", "", 0)
	for i := range 3 {
		node.GPUs = append(node.GPUs, slurmconf.GPUSet{Type: "a100", Count: 1, FirstDevice: i, Links: []int{-1, 4, 4}})
	}
	node.GPUs[1].Links, node.GPUs[2].Links = []int{4, -1, 4}, []int{4, 4, -1}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, node))
		has(t, set, "gres.conf", "NodeName=n1 Name=gpu Type=a100 Count=1 File=/dev/nvidia1 Links=4,-1,4")
		if out, ok := j.GRES(t, set, "n1"); !ok || strings.Contains(out, "nvalid Links") {
			t.Errorf("ok %v\n%s", ok, out)
		}
		if out, _ := j.GRES(t, swap(t, set, "gres.conf", "Links=4,-1,4", "Links=0,,4"), "n1"); !strings.Contains(out, "nvalid Links") {
			t.Errorf("slurmd on Links=0,,4:\n%s", out)
		}
	})
	for _, bad := range [][]int{{-1, 4}, {4, 4, 4}, {-1, -1, 4}, {-2, -1, 4}} {
		wrong := node
		wrong.GPUs = append([]slurmconf.GPUSet(nil), node.GPUs...)
		wrong.GPUs[0].Links = bad
		reported(t, cluster(slurmconf.V2411, wrong), "nodes[0].gpus[0].links", "-1")
	}
}

// TestCaseS18: each GPU has a file or is detected.
func TestCaseS18(t *testing.T) {
	for _, v := range slurmconf.Supported {
		for name, c := range slurmconf.Samples(v) {
			for _, line := range strings.Split(render(t, c).Content("gres.conf"), "\n") {
				if strings.Contains(line, "Name=gpu") && !strings.Contains(line, "File") {
					t.Errorf("%s %s: %s", v, name, line)
				}
			}
		}
	}
}

// TestCaseS19: no detection for nodes that come and go.
func TestCaseS19(t *testing.T) {
	node := gpuNode("worker0", "h100", 8)
	node.State = "CLOUD"
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, node)
		set := render(t, c)
		has(t, set, "gres.conf", "NodeName=worker0 Name=gpu Type=h100 Count=8 File=/dev/nvidia[0-7]")
		c.GPUAutoDetect = "nvml"
		reported(t, c, "nodes[0].state", "cannot be detected")
		verdict := j.Load(t, with(set, "gres.conf", "AutoDetect=nvml\n"))
		if j.Version == slurmconf.V2205 && verdict.Loaded || !verdict.Says("AutoDetect") {
			t.Errorf("slurmctld on detection for a cloud node: loaded %v\n%s", verdict.Loaded, verdict.Log)
		}
	})
}

// TestCaseS21: a MIG instance is one GPU with several files.
func TestCaseS21(t *testing.T) {
	node := gpuNode("n1", "", 0)
	files := []string{"/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap21", "/dev/nvidia-caps/nvidia-cap22"}
	node.GPUs = []slurmconf.GPUSet{{Type: "a100_3g.20gb", Count: 1, MultipleFiles: files}}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, node))
		has(t, set, "gres.conf", "NodeName=n1 Name=gpu Type=a100_3g.20gb Count=1 MultipleFiles="+strings.Join(files, ","))
		if out, ok := j.GRES(t, set, "n1"); !ok || gpus(out) != 1 {
			t.Errorf("%d GPUs, ok %v; want 1\n%s", gpus(out), ok, out)
		}
		wrong := swap(t, swap(t, set, "gres.conf", "MultipleFiles=", "File="), "gres.conf", " Count=1", "")
		if out, _ := j.GRES(t, swap(t, wrong, "slurm.conf", "20gb:1", "20gb:3"), "n1"); gpus(out) != 3 {
			t.Errorf("three files are %d GPUs; want 3\n%s", gpus(out), out)
		}
	})
	three := gpuNode("n1", "", 0)
	three.GPUs = []slurmconf.GPUSet{{Type: "a100_3g.20gb", Count: 3, MultipleFiles: files}}
	reported(t, cluster(slurmconf.V2411, three), "nodes[0].gpus[0].multipleFiles", "one GPU")
}

// TestCaseS22: a node that comes and goes is described whole.
func TestCaseS22(t *testing.T) {
	node := gpuNode("w1", "a10", 1)
	node.State = "CLOUD"
	has(t, render(t, cluster(slurmconf.V2411, node)), "slurm.conf",
		"NodeName=w1 Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=64000 Gres=gpu:a10:1 State=CLOUD")
}

// TestCaseS29: a product name as Slurm spells it.
func TestCaseS29(t *testing.T) {
	for model, want := range map[string]string{"Tesla T4": "tesla_t4", "NVIDIA H100 80GB HBM3": "nvidia_h100_80gb_hbm3", "a30": "a30"} {
		if got := slurmconf.GPUType(model); got != want {
			t.Errorf("GPUType(%q) = %q; want %q", model, got, want)
		}
	}
	p := reported(t, cluster(slurmconf.V2411, gpuNode("n1", "Tesla T4", 1)), "nodes[0].gpus[0].type", "Tesla T4")
	if p.Hint != "write tesla_t4" {
		t.Errorf("hint %q", p.Hint)
	}
}

// TestCaseS31: a type of digits keeps its count beside it.
func TestCaseS31(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "3090", 1)))
		verdict, answers := j.Ask(t, set, []string{"show", "node", "n1"})
		if !verdict.Loaded || !strings.Contains(answers[0], "Gres=gpu:3090:1") {
			t.Errorf("loaded %v: %s", verdict.Loaded, answers[0])
		}
	})
}

// TestCaseS32: GPUs with and without a type on one node stop slurmd.
func TestCaseS32(t *testing.T) {
	node := gpuNode("n1", "a100", 4)
	node.GPUs = append(node.GPUs, slurmconf.GPUSet{Count: 4, FirstDevice: 4})
	reported(t, cluster(slurmconf.V2411, node), "nodes[0].gpus[1].type", "without type")
	node.GPUs[1].Type = "a30"
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, node))
		if out, ok := j.GRES(t, set, "n1"); !ok || gpus(out) != 8 {
			t.Errorf("%d GPUs, ok %v\n%s", gpus(out), ok, out)
		}
		untyped := swap(t, swap(t, set, "slurm.conf", "gpu:a30:4", "gpu:4"), "gres.conf", "Type=a30 ", "")
		if out, ok := j.GRES(t, untyped, "n1"); ok || !strings.Contains(out, "type") {
			t.Errorf("slurmd on a mixed node: ok %v\n%s", ok, out)
		}
	})
}
