package impact

import (
	"maps"
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

// TestNodeStarts checks what makes the slurmd of one node restart, and that it
// is what has the node drained.
func TestNodeStarts(t *testing.T) {
	files := map[string]string{
		"slurm.conf": "ClusterName=c\nSlurmctldHost=ctl1\nGresTypes=gpu\nNodeName=gpu[1-2] NodeAddr=10.0.0.[1-2] CPUs=8 RealMemory=8000 Weight=1 Gres=gpu:h100:8\nPartitionName=p Nodes=gpu[1-2]\n",
		"gres.conf":  "NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[0-7]\nNodeName=gpu2 Name=gpu Type=h100 File=/dev/nvidia[0-7]\n",
	}
	for name, c := range map[string]struct {
		file, replace, by string
		want              string // the hosts that restart
		drained           string // what is told of them
	}{
		"nothing":            {"slurm.conf", "", "", "", ""},
		"a weight":           {"slurm.conf", "Weight=1", "Weight=2", "", ""},
		"CPUs":               {"slurm.conf", "CPUs=8", "CPUs=6", "gpu1,gpu2", "CPUs 8 -> 6"},
		"an address":         {"slurm.conf", "10.0.0.[1-2]", "10.0.0.[1,3]", "gpu2", "NodeAddr changed"},
		"other devices":      {"gres.conf", "gpu2 Name=gpu Type=h100 File=/dev/nvidia[0-7]", "gpu2 Name=gpu Type=h100 File=/dev/nvidia[8-15]", "gpu2", "File=/dev/nvidia[8-15]"},
		"a spool of its own": {"slurm.conf", "GresTypes", "SlurmdSpoolDir=/srv\nGresTypes", "", "SlurmdSpoolDir set to /srv"},
	} {
		t.Run(name, func(t *testing.T) {
			before := Set{Version: slurmconf.V2411, Files: files}
			after := Set{Version: slurmconf.V2411, Files: maps.Clone(files)}
			after.Files[c.file] = strings.Replace(files[c.file], c.replace, c.by, 1)
			was, err := NodeStarts(before)
			if err != nil {
				t.Fatal(err)
			}
			is, err := NodeStarts(after)
			if err != nil {
				t.Fatal(err)
			}
			var restart []string
			for _, node := range names("gpu[1-2]") {
				if was[node] != is[node] {
					restart = append(restart, node)
				}
			}
			if got := strings.Join(restart, ","); got != c.want {
				t.Errorf("restart %s, want %s", got, c.want)
			}
			plan, err := Compare(before, after)
			if err != nil {
				t.Fatal(err)
			}
			drained := plan.Drained()
			for _, node := range restart {
				if len(drained[node]) != 1 || !strings.Contains(drained[node][0], c.drained) {
					t.Errorf("%s is drained for %q, want %q", node, drained[node], c.drained)
				}
			}
			if c.drained == "" && len(drained) > 0 || c.drained != "" && len(drained) == 0 {
				t.Errorf("drained %v, want %q", drained, c.drained)
			}
		})
	}
}

// TestEmptied checks which partitions have to be free of jobs first.
func TestEmptied(t *testing.T) {
	set := func(lines string) Set {
		return Set{Version: slurmconf.V2205, Files: map[string]string{"slurm.conf": "ClusterName=c\nSlurmctldHost=ctl1\nNodeName=n1\nNodeSet=s Nodes=n1\n" + lines}}
	}
	plan, err := Compare(set("PartitionName=a Nodes=n1\nPartitionName=old Nodes=n1\n"), set("PartitionName=a Nodes=n1 MaxTime=1\nPartitionName=new Nodes=n1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(plan.Emptied(), ","); got != "old" {
		t.Errorf("emptied %s, want the one that was renamed", got)
	}
}
