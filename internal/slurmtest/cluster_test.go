package slurmtest

import (
	"sort"
	"strings"
	"testing"
)

func TestClusterRunsAGPUJobOnEachRelease(t *testing.T) {
	var releases []string
	for r := range Releases {
		releases = append(releases, r)
	}
	sort.Strings(releases)
	for _, release := range releases {
		t.Run(release, func(t *testing.T) {
			c := StartCluster(t, release, Conf{Nodes: map[string]string{"n1": GPUNode, "n2": GPUNode}})
			out := c.Must(t, "srun -N2 --gres=gpu:h100:4 sh -c 'echo $CUDA_VISIBLE_DEVICES'")
			if got, want := strings.TrimSpace(out), "0,1,2,3\n0,1,2,3"; got != want {
				t.Errorf("devices of the job are %q, want %q", got, want)
			}
			if got := c.Must(t, "slurmctld -V"); !strings.Contains(got, " "+release+".") {
				t.Errorf("slurmctld says %q, want release %s", got, release)
			}
		})
	}
}
