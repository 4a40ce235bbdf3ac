package slurmconf_test

import (
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

func Example() {
	set, err := slurmconf.Render(slurmconf.Cluster{
		Name:        "demo",
		Version:     slurmconf.V2411,
		Controllers: []slurmconf.Controller{{Name: "ctl"}},
		Nodes: []slurmconf.Node{{
			Name: "gpu1", Sockets: 2, CoresPerSocket: 32, ThreadsPerCore: 2, RealMemoryMiB: 980000,
			GPUs: []slurmconf.GPUSet{{Type: "h100", Count: 8}},
		}},
		Partitions: []slurmconf.Partition{{Name: "all", Nodes: []string{"gpu1"}, Default: true}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(set.Content("gres.conf"))
	// Output:
	// # gres.conf: written by gpucluster. The next run replaces it: change the environment file.
	//
	// NodeName=gpu1 Name=gpu Type=h100 Count=8 File=/dev/nvidia[0-7]
}
