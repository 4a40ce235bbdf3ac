package lab

import (
	"strings"
	"testing"
)

// checkStandIn asks a host's nvidia-smi what the toolkit asks the real one.
func checkStandIn(t *testing.T, h HostInfo, key KeyPair) {
	t.Helper()
	uuid := HostSpec{Lab: strings.TrimSuffix(strings.TrimPrefix(h.Container, "gpucluster-"), "."+h.Name), Name: h.Name,
		Hardware: Hardware{GPUs: []GPUs{{Count: 2}}}}.gpus()[1].UUID
	cases := map[string]string{
		"nvidia-smi -L 2>/dev/null | sed -n 2p": "GPU 1: NVIDIA H100 80GB HBM3 (UUID: " + uuid + ")",
		"nvidia-smi --query-gpu=index,name,uuid,memory.total,driver_version --format=csv,noheader 2>/dev/null | sed -n 2p": "1, NVIDIA H100 80GB HBM3, " + uuid + ", 81559 MiB, 570.86.15",
		"nvidia-smi --query-gpu=index,memory.total --format=csv 2>/dev/null | head -2":                                     "index, memory.total [MiB]\n0, 81559 MiB",
		"nvidia-smi --query-gpu memory.total --format csv,noheader,nounits -i 1 2>/dev/null":                               "81559",
		"nvidia-smi 2>/dev/null | head -1":                                                                  "Simulated GPUs of a gpucluster lab",
		"nvidia-smi -L 2>&1 >/dev/null":                                                                     "nvidia-smi: these GPUs are simulated by a gpucluster lab",
		"nvidia-smi --query-gpu=fan.speed --format=csv 2>/dev/null; echo $?":                                `Field "fan.speed" is not a valid field to query.` + "\n2",
		"nvidia-smi -i 9 2>/dev/null; echo $?":                                                              "No devices were found\n6",
		"nvidia-smi --reset 2>/dev/null | wc -l":                                                            "1",
		"mv /dev/nvidia0 /dev/x; nvidia-smi -L 2>/dev/null | grep -c '^GPU [0-6]:'; mv /dev/x /dev/nvidia0": "7",
	}
	for command, want := range cases {
		if got := mustRun(t, h, key, command); got != want {
			t.Errorf("%s\ngives %q, want %q", command, got, want)
		}
	}
}
