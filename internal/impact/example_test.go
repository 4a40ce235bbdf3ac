package impact_test

import (
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/impact"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

func ExampleCompare() {
	set := func(names ...string) impact.Set {
		c := slurmconf.Cluster{Name: "demo", Version: slurmconf.V2411, Controllers: []slurmconf.Controller{{Name: "ctl1"}}}
		for _, n := range names {
			c.Nodes = append(c.Nodes, slurmconf.Node{Name: n, Sockets: 2, CoresPerSocket: 8, ThreadsPerCore: 1, RealMemoryMiB: 64000})
		}
		c.Partitions = []slurmconf.Partition{{Name: "train", Nodes: names, Default: true}}
		files, err := slurmconf.Render(c)
		if err != nil {
			panic(err)
		}
		return impact.Of(files)
	}
	plan, err := impact.Compare(set("gpu1", "gpu2", "gpu3", "gpu4"), set("gpu1", "gpu2", "gpu3", "gpu4", "gpu5", "gpu6"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// slurm.conf: node gpu[5-6] added
	//   reconfigure: ctl1
	//   join, closed until checked: gpu[5-6]
	// slurm.conf: partition train: Nodes gpu[1-4] -> gpu[1-6]
	//   reconfigure: ctl1
	// in all
	//   reconfigure on ctl1
	//   join, closed until checked on gpu[5-6]
}
