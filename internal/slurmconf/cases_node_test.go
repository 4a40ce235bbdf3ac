package slurmconf_test

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// TestCaseS07: memory is scheduled, and is what the node says.
func TestCaseS07(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		node := gpuNode("n1", "", 0)
		node.RealMemoryMiB = 15191
		set := render(t, cluster(j.Version, node))
		has(t, set, "slurm.conf", "SelectTypeParameters=CR_Core_Memory")
		verdict, answers := j.Ask(t, set, []string{"show", "node", "n1"})
		if !verdict.Loaded || !strings.Contains(answers[0], "RealMemory=15191") {
			t.Errorf("loaded %v: %s", verdict.Loaded, answers[0])
		}
	})
}

// TestCaseS15: no key without a value, no stray blanks; Slurm refuses an empty
// one at the end of a line.
func TestCaseS15(t *testing.T) {
	for _, v := range slurmconf.Supported {
		for name, c := range slurmconf.Samples(v) {
			for _, f := range render(t, c).Files {
				for i, line := range strings.Split(f.Content, "\n") {
					if line != strings.TrimRight(line, " \t\r") || strings.HasSuffix(line, "=") || strings.Contains(line, "= ") && !strings.HasPrefix(line, "#") {
						t.Errorf("%s %s %s, line %d: %q", v, name, f.Name, i+1, line)
					}
				}
			}
		}
	}
	every(t, func(t *testing.T, j *judge.Judge) {
		text := "ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1 Gres=\nPartitionName=p Nodes=n1\n"
		if out := j.Read(t, map[string]string{"slurm.conf": text}); !strings.Contains(out, "Parse error") {
			t.Errorf("clients read an empty key: %s", out)
		}
	})
}

// TestCaseS37: sockets, cores and threads are told apart.
func TestCaseS37(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		node := slurmconf.Node{Name: "n1", Sockets: 2, CoresPerSocket: 8, ThreadsPerCore: 2, RealMemoryMiB: 1000}
		if node.CPUs() != 32 {
			t.Errorf("%d CPUs", node.CPUs())
		}
		verdict, answers := j.Ask(t, render(t, cluster(j.Version, node)), []string{"show", "node", "n1"})
		for _, want := range []string{"CPUTot=32", "Sockets=2", "CoresPerSocket=8", "ThreadsPerCore=2"} {
			if !verdict.Loaded || !strings.Contains(answers[0], want) {
				t.Errorf("no %s: %s", want, answers[0])
			}
		}
	})
}

// TestCaseS38: with one thread a core, CPUs are cores.
func TestCaseS38(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		node := slurmconf.Node{Name: "n1", Sockets: 1, CoresPerSocket: 22, ThreadsPerCore: 1, RealMemoryMiB: 1000}
		verdict, answers := j.Ask(t, render(t, cluster(j.Version, node)), []string{"show", "node", "n1"})
		if !verdict.Loaded || !strings.Contains(answers[0], "CPUTot=22") {
			t.Error(answers[0])
		}
	})
}

// TestCaseS40: every core its own socket is a description gone wrong.
func TestCaseS40(t *testing.T) {
	node := slurmconf.Node{Name: "n1", Sockets: 32, CoresPerSocket: 1, ThreadsPerCore: 1, RealMemoryMiB: 1000}
	if p := reported(t, cluster(slurmconf.V2411, node), "nodes[0].sockets", "32 sockets of one core"); p.Severity != slurmconf.Advice {
		t.Errorf("%v is no advice", p)
	}
}

// TestCaseS41: a host without facts is an error, not a host of one core.
func TestCaseS41(t *testing.T) {
	c := cluster(slurmconf.V2411, slurmconf.Node{Name: "n1"})
	for _, field := range []string{"sockets", "coresPerSocket", "threadsPerCore", "realMemoryMiB"} {
		reported(t, c, "nodes[0]."+field, "n1 has 0")
	}
}

// TestCaseS42: no defaults that would leak into later lines.
func TestCaseS42(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		small := gpuNode("b1", "", 0)
		small.RealMemoryMiB = 500
		set := render(t, cluster(j.Version, gpuNode("a1", "", 0), small))
		hasNot(t, set, "slurm.conf", "NodeName=DEFAULT", "PartitionName=DEFAULT")
		_, answers := j.Ask(t, set, []string{"show", "node", "b1"})
		if !strings.Contains(answers[0], "RealMemory=500 ") {
			t.Error(answers[0])
		}
		leaks := swap(t, swap(t, set, "slurm.conf", "NodeName=a1", "NodeName=DEFAULT RealMemory=64000\nNodeName=a1"), "slurm.conf", " RealMemory=500", "")
		if _, answers := j.Ask(t, leaks, []string{"show", "node", "b1"}); !strings.Contains(answers[0], "RealMemory=64000") {
			t.Errorf("the default did not leak: %s", answers[0])
		}
	})
}

// TestCaseS45: a node of two partitions is there once.
func TestCaseS45(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, gpuNode("n1", "", 0), gpuNode("n2", "", 0))
		c.NodeSets = []slurmconf.NodeSet{{Name: "set", Nodes: []string{"n1", "n2"}}}
		c.Partitions = []slurmconf.Partition{{Name: "a", NodeSets: []string{"set"}, Default: true}, {Name: "b", NodeSets: []string{"set"}, Nodes: nil}}
		set := render(t, c)
		if n := strings.Count(set.Content("slurm.conf"), "NodeName="); n != 1 {
			t.Errorf("%d NodeName lines", n)
		}
		_, answers := j.Ask(t, set, []string{"show", "partition", "b"})
		if !strings.Contains(answers[0], "TotalNodes=2") {
			t.Error(answers[0])
		}
		refused(t, j, swap(t, set, "slurm.conf", "NodeSet=set", "NodeName=n1 CPUs=1\nNodeSet=set"), "uplicated NodeName")
	})
}

// TestCaseS46: two nodes on one host need a port each.
func TestCaseS46(t *testing.T) {
	a, b := gpuNode("a", "", 0), gpuNode("b", "", 0)
	a.Hostname, b.Hostname = "host", "host"
	reported(t, cluster(slurmconf.V2411, a, b), "nodes[1].hostname", "port of its own")
	a.Port, b.Port = 17001, 17002
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, a, b))
		if !strings.Contains(set.Content("slurm.conf"), "SlurmdPidFile=/run/slurmd-%n.pid\n") {
			t.Error("two daemons on one host share a pid file")
		}
		has(t, set, "slurm.conf", "SlurmdSpoolDir=/var/spool/slurmd/%n")
		loaded(t, j, set)
	})
}

// TestCaseS47: a partition without nodes.
func TestCaseS47(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, gpuNode("n1", "", 0))
		c.Partitions = append(c.Partitions, slurmconf.Partition{Name: "e1"}, slurmconf.Partition{Name: "e2"})
		set := render(t, c)
		has(t, set, "slurm.conf", `PartitionName=e1 Nodes=""`, `PartitionName=e2 Nodes=""`)
		_, answers := j.Ask(t, set, []string{"show", "partition", "e2"})
		if !strings.Contains(answers[0], "TotalNodes=0") {
			t.Error(answers[0])
		}
	})
}

// TestCaseS49: one record a line, and a newline at the end of every file.
func TestCaseS49(t *testing.T) {
	for _, v := range slurmconf.Supported {
		for name, c := range slurmconf.Samples(v) {
			for _, f := range render(t, c).Files {
				if !strings.HasSuffix(f.Content, "\n") || strings.HasSuffix(f.Content, "\n\n") {
					t.Errorf("%s %s %s does not end in one newline", v, name, f.Name)
				}
				for _, key := range []string{"NodeName=", "PartitionName=", "SwitchName=", "NodeSet="} {
					for _, line := range strings.Split(f.Content, "\n") {
						if strings.Count(line, " "+key) > 0 {
							t.Errorf("%s %s %s: two records in %q", v, name, f.Name, line)
						}
					}
				}
			}
		}
	}
}

// TestCaseS51: login hosts hold copies only where no sackd fetches them.
func TestCaseS51(t *testing.T) {
	for v, want := range map[slurmconf.Version]int{slurmconf.V2205: 1, slurmconf.V2411: 0, slurmconf.V2605: 0} {
		files := render(t, cluster(v, gpuNode("n1", "", 0))).For(slurmconf.OnLogin)
		if len(files) != want || want == 1 && files[0].Name != "slurm.conf" {
			t.Errorf("%s: %d files on login hosts; want %d", v, len(files), want)
		}
	}
}

// TestCaseS52: an empty value takes the next word for its own, so none is
// written.
func TestCaseS52(t *testing.T) {
	node := gpuNode("n1", "", 0)
	node.Extra = map[string]string{"TmpDisk": ""}
	reported(t, cluster(slurmconf.V2411, node), "nodes[0].extra.TmpDisk", "empty")
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "", 0)))
		swallowed := swap(t, set, "slurm.conf", " RealMemory=64000", " Features= RealMemory=64000")
		_, answers := j.Ask(t, swallowed, []string{"show", "node", "n1"})
		if !strings.Contains(answers[0], "AvailableFeatures=RealMemory=64000") || !strings.Contains(answers[0], "RealMemory=1 ") {
			t.Errorf("slurmctld did not swallow the next word: %s", answers[0])
		}
	})
}

// TestCaseS53: a partition names nodes that are there.
func TestCaseS53(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		c := cluster(j.Version, gpuNode("n1", "", 0))
		set := render(t, c)
		c.Partitions[0].NodeSets = []string{"removed"}
		reported(t, c, "partitions[0].nodeSets[0]", "no such node set")
		refused(t, j, swap(t, set, "slurm.conf", "PartitionName=all Nodes=n1", "PartitionName=all Nodes=removed"), "nvalid node names in partition")
	})
}

// TestCaseS54, S55, S56: what Slurm cannot read, Parse does not read either.
func TestCaseS54(t *testing.T) { unreadable(t, "AccountingStorageTRES: gres/gpu") }

func TestCaseS55(t *testing.T) {
	unreadable(t, "<<<<<<< HEAD")
	unreadable(t, "These settings are for the users of the cluster.")
}

func TestCaseS56(t *testing.T) { unreadable(t, "NodeName=n9 Sockets=2 ThreadsPer") }

func unreadable(t *testing.T, line string) {
	t.Helper()
	if _, err := slurmconf.Parse("ClusterName=c\n" + line + "\n"); err == nil {
		t.Errorf("Parse reads %q", line)
	}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "", 0)))
		// Beside the set, since the set itself is read before it is tried.
		text := "ClusterName=c\nSlurmctldHost=localhost\nNodeName=n1\nPartitionName=p Nodes=n1\n"
		if out := j.Read(t, map[string]string{"slurm.conf": text}); out != "" {
			t.Fatalf("a plain file is refused: %s", out)
		}
		if out := j.Read(t, map[string]string{"slurm.conf": text + "Include more.conf\n", "more.conf": line + "\n"}); !strings.Contains(out, "rror") {
			t.Errorf("clients read %q: %s", line, out)
		}
		loaded(t, j, set)
	})
}

// TestCaseS58: what old files still have is refused, with what serves instead.
func TestCaseS58(t *testing.T) {
	for key, hint := range map[string]string{"FastSchedule": "config_overrides", "SallocDefaultCommand": "use_interactive_step"} {
		c := cluster(slurmconf.V2205, gpuNode("n1", "", 0))
		c.Extra = extraKeys("slurm.conf", map[string]string{key: "0"})
		reported(t, c, `extra."slurm.conf".`+key, hint)
	}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, cluster(j.Version, gpuNode("n1", "", 0)))
		refused(t, j, with(set, "slurm.conf", set.Content("slurm.conf")+"FastSchedule=0\n"), "FastSchedule")
		refused(t, j, with(set, "slurm.conf", set.Content("slurm.conf")+"SallocDefaultCommand=bash\n"), "SallocDefaultCommand")
	})
}

// TestCaseS60: dashes stay, and text after a bracket is written out, since
// Slurm reads it only from 23.11 on.
func TestCaseS60(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		var nodes []slurmconf.Node
		for _, n := range append(expand(t, "q1-dy-p4d-[1-4]"), expand(t, "ib[01-02]-mgmt")...) {
			nodes = append(nodes, gpuNode(n, "", 0))
		}
		set := render(t, cluster(j.Version, nodes...))
		if !strings.Contains(set.Content("slurm.conf"), "NodeName=ib01-mgmt,ib02-mgmt,q1-dy-p4d-[1-4] ") {
			t.Error(set.Content("slurm.conf"))
		}
		verdict, answers := j.Ask(t, set, []string{"show", "node", "ib02-mgmt"}, []string{"show", "node", "q1-dy-p4d-4"})
		if !verdict.Loaded || !strings.Contains(answers[0], "NodeName=ib02-mgmt") || !strings.Contains(answers[1], "NodeName=q1-dy-p4d-4") {
			t.Errorf("%v", answers)
		}
		if j.Version == slurmconf.V2205 {
			verdict := j.Load(t, swap(t, set, "slurm.conf", "NodeName=ib01-mgmt,ib02-mgmt", "NodeName=ib[01-02]-mgmt"))
			if verdict.Loaded && len(verdict.Complaints) == 0 {
				t.Error("22.05 reads text after a bracket")
			}
		}
	})
}

// TestCaseS61: no secret in a file that others read.
func TestCaseS61(t *testing.T) {
	for _, v := range slurmconf.Supported {
		for name, c := range slurmconf.Samples(v) {
			for _, f := range render(t, c).Files {
				if strings.Contains(f.Content, "Pass=") {
					t.Errorf("%s %s: %s has a password", v, name, f.Name)
				}
				if f.Name == "slurmdbd.conf" && f.Mode != "0600" {
					t.Errorf("%s has mode %s", f.Name, f.Mode)
				}
			}
		}
	}
	c := cluster(slurmconf.V2411, gpuNode("n1", "", 0))
	c.Accounting = &slurmconf.Accounting{Host: "db"}
	c.Extra = map[string]map[string]string{"slurm.conf": {"AccountingStoragePass": "x", "JobCompPass": "x"}, "slurmdbd.conf": {"StoragePass": "x"}}
	for _, path := range []string{`extra."slurm.conf".AccountingStoragePass`, `extra."slurm.conf".JobCompPass`, `extra."slurmdbd.conf".StoragePass`} {
		reported(t, c, path, "secret")
	}
}
