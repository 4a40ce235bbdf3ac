package judge

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

func cluster(v slurmconf.Version) slurmconf.Cluster {
	return slurmconf.Cluster{
		Name: "trial", Version: v, Controllers: []slurmconf.Controller{{Name: "ctl"}},
		Nodes: []slurmconf.Node{{
			Name: "gpu1", Sockets: 1, CoresPerSocket: 2, ThreadsPerCore: 1, RealMemoryMiB: 1000,
			GPUs: []slurmconf.GPUSet{{Type: "h100", Count: 2}},
		}},
		Partitions: []slurmconf.Partition{{Name: "all", Nodes: []string{"gpu1"}, Default: true}},
		Overrides:  slurmconf.Overrides{TrustDeclared: true},
	}
}

// TestJudge: each release loads a good set and refuses a bad one, so that a
// verdict means something.
func TestJudge(t *testing.T) {
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			j := For(t, v)
			set, err := slurmconf.Render(cluster(v))
			if err != nil {
				t.Fatal(err)
			}
			verdict, answers := j.Ask(t, set, []string{"show", "node", "gpu1"})
			if !verdict.Loaded {
				t.Fatalf("refused a good set:\n%s", verdict.Log)
			}
			if !strings.Contains(answers[0], "Gres=gpu:h100:2") {
				t.Errorf("scontrol show node: %s", answers[0])
			}
			for i, f := range set.Files {
				if f.Name == "slurm.conf" {
					set.Files[i].Content += "NoSuchKey=1\n"
				}
			}
			if verdict := j.Load(t, set); verdict.Loaded || len(verdict.Complaints) == 0 {
				t.Errorf("loaded a set with an unknown key:\n%s", verdict.Log)
			}
		})
	}
}

// TestGRES: slurmd reads the GPUs of a node, and refuses what contradicts
// slurm.conf.
func TestGRES(t *testing.T) {
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			j := For(t, v)
			set, err := slurmconf.Render(cluster(v))
			if err != nil {
				t.Fatal(err)
			}
			out, ok := j.GRES(t, set, "gpu1")
			if !ok || !strings.Contains(out, "Type=h100") || !strings.Contains(out, "Count=2") {
				t.Errorf("slurmd -G: ok %v\n%s", ok, out)
			}
			for i, f := range set.Files {
				if f.Name == "gres.conf" {
					set.Files[i].Content += "NodeName=gpu1 Nonsense=1\n"
				}
			}
			if out, ok := j.GRES(t, set, "gpu1"); ok {
				t.Errorf("slurmd -G on a record with an unknown key ended well:\n%s", out)
			}
		})
	}
}
