package impact

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

func TestStartDigest(t *testing.T) {
	const conf = "ClusterName=c\nSlurmctldHost=ctl1\nSlurmdPort=6818\nGresTypes=gpu\n" +
		"NodeName=gpu[1-2] CPUs=8 Gres=gpu:h100:8\nPartitionName=p Nodes=gpu[1-2] MaxTime=10\n"
	cases := map[string]struct {
		replace, by string
		restarts    map[string]bool
	}{
		"a partition's limit":     {"MaxTime=10", "MaxTime=20", map[string]bool{}},
		"the port":                {"SlurmdPort=6818", "SlurmdPort=6819", map[string]bool{"22.05": true, "24.11": true}},
		"a controller":            {"SlurmctldHost=ctl1", "SlurmctldHost=ctl2", map[string]bool{"22.05": true, "24.11": true}},
		"a host more":             {"NodeName=gpu[1-2]", "NodeName=gpu[1-3]", map[string]bool{"22.05": true}},
		"a plugin read at start":  {"GresTypes=gpu", "GresTypes=gpu,nic", map[string]bool{"22.05": true}},
		"only a state":            {"CPUs=8", "CPUs=8 State=UNKNOWN", map[string]bool{}},
		"a comment":               {"ClusterName=c\n", "ClusterName=c\n# told\n", map[string]bool{}},
		"the shape of every host": {"CPUs=8", "CPUs=16", map[string]bool{"22.05": true}},
	}
	for title, c := range cases {
		for _, release := range []string{"22.05", "24.11"} {
			t.Run(title+" on "+release, func(t *testing.T) {
				version, err := slurmconf.ParseVersion(release)
				if err != nil {
					t.Fatal(err)
				}
				digest := func(text string) string {
					d, err := StartDigest(Set{Version: version, Files: map[string]string{"slurm.conf": text}})
					if err != nil {
						t.Fatal(err)
					}
					return d
				}
				if got := digest(conf) != digest(strings.Replace(conf, c.replace, c.by, 1)); got != c.restarts[release] {
					t.Errorf("restarts slurmd: %v, want %v", got, c.restarts[release])
				}
			})
		}
	}
}
