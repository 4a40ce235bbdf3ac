package impact

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

// TestReconfigureIsEnough asks real daemons of each release about what the
// rules say a reconfigure can do while jobs run, and about what it does to the
// jobs of a partition that is gone.
func TestReconfigureIsEnough(t *testing.T) {
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			conf := slurmtest.Conf{Nodes: map[string]string{"n1": slurmtest.GPUNode, "n2": slurmtest.GPUNode}, Extra: "PartitionName=side Nodes=n1 MaxTime=60"}
			c := slurmtest.StartCluster(t, v.String(), conf)
			kept := c.Submit(t, "--mem 100 -p main -w n1 -t 10", "sleep 600")
			lost := c.Submit(t, "--mem 100 -p side -w n1 -t 10", "sleep 600")
			c.WaitJob(t, kept, "RUNNING")
			c.WaitJob(t, lost, "RUNNING")

			conf.Extra = "PartitionName=side Nodes=n1 MaxTime=120\nMaxArraySize=3000"
			conf.Nodes["n1"] = strings.Replace(slurmtest.GPUNode, "RealMemory=8000", "RealMemory=9000", 1) + " Weight=7 Features=ib"
			c.Place(t, conf)
			c.Must(t, "scontrol reconfigure")
			c.Until(t, 20*time.Second, "scontrol show partition side -o; scontrol show node n1 -o; scontrol show config", func(out string) bool {
				for _, want := range []string{"MaxTime=02:00:00", "RealMemory=9000", "Weight=7", "AvailableFeatures=ib"} {
					if !strings.Contains(out, want) {
						return false
					}
				}
				return strings.Contains(strings.ReplaceAll(out, " ", ""), "MaxArraySize=3000")
			})
			for _, id := range []string{kept, lost} {
				if state := c.JobState(t, id); state != "RUNNING" {
					t.Errorf("job %s is %s after a reconfigure", id, state)
				}
			}

			conf.Extra = ""
			c.Place(t, conf)
			c.Must(t, "scontrol reconfigure")
			c.Until(t, 20*time.Second, "scontrol show job -o "+lost, func(out string) bool { return !strings.Contains(out, "JobState=RUNNING") })
			if state := c.JobState(t, kept); state != "RUNNING" {
				t.Errorf("job %s of the other partition is %s", kept, state)
			}
		})
	}
}
