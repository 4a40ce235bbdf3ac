package slurmconf_test

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

func four(v slurmconf.Version, switches ...topology.Switch) slurmconf.Cluster {
	c := cluster(v, gpuNode("n1", "", 0), gpuNode("n2", "", 0), gpuNode("n3", "", 0), gpuNode("n4", "", 0))
	c.Topology = switches
	return c
}

func leaf(t *testing.T, name, nodes string) topology.Switch {
	return topology.Switch{Name: name, Nodes: expand(t, nodes)}
}

func spine(t *testing.T, name, below string) topology.Switch {
	return topology.Switch{Name: name, Switches: expand(t, below)}
}

// TestCaseS64 and S75: switches without nodes are left out, also from the
// switch above them.
func TestCaseS64(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version, spine(t, "s1", "l[1-2]"), leaf(t, "l1", "n[1-4]"), topology.Switch{Name: "l2"}))
		has(t, set, "topology.conf", "SwitchName=l1 Nodes=n[1-4]", "SwitchName=s1 Switches=l1")
		verdict, answers := j.Ask(t, set, []string{"show", "topology"})
		if !verdict.Loaded || !strings.Contains(answers[0], "SwitchName=s1") {
			t.Errorf("loaded %v: %s", verdict.Loaded, answers[0])
		}
		refused(t, j, swap(t, set, "topology.conf", "Switches=l1", "Switches=l[1-2]"), "invalid child")
	})
}

// TestCaseS75: after nodes are gone the graph is still a tree.
func TestCaseS75(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version, spine(t, "top", "a,b"), spine(t, "a", "l1"), spine(t, "b", "l2"), leaf(t, "l1", "n[1-4]"), topology.Switch{Name: "l2"}))
		hasNot(t, set, "topology.conf", "=b ", "l2")
		loaded(t, j, set)
		empty := with(set, "topology.conf", set.Content("topology.conf")+"SwitchName=l2\n")
		if verdict := j.Load(t, empty); verdict.Loaded == (j.Version == slurmconf.V2205 || j.Version == slurmconf.V2411) {
			t.Errorf("an empty switch: loaded %v\n%s", verdict.Loaded, verdict.Log)
		}
	})
	c := four(slurmconf.V2411, spine(t, "a", "l"), spine(t, "b", "l"), leaf(t, "l", "n[1-4]"))
	reported(t, c, "topology[1].switches", `already below "a"`)
}

// TestCaseS65: without any node under a switch there is no topology at all.
func TestCaseS65(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version))
		hasNot(t, set, "slurm.conf", "Topology")
		if _, ok := set.Get("topology.conf"); ok {
			t.Error("a topology.conf without switches")
		}
		loaded(t, j, set)
	})
	reported(t, four(slurmconf.V2411, topology.Switch{Name: "root"}), "topology", "no node is under any switch")
}

// TestCaseS70: an empty topology.conf beside a tree plugin does not do.
func TestCaseS70(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version, leaf(t, "l1", "n[1-4]")))
		verdict := j.Load(t, with(set, "topology.conf", "# none yet\n"))
		if verdict.Loaded && !strings.Contains(strings.ToLower(verdict.Log), "switches") {
			t.Errorf("slurmctld says nothing of it:\n%s", verdict.Log)
		}
	})
}

// TestCaseS68: a name that ends in a long number is another name to Slurm.
func TestCaseS68(t *testing.T) {
	const guid = "a99999999999999999999"
	p := reported(t, four(slurmconf.V2411, spine(t, "top", "l"), topology.Switch{Name: guid, Nodes: expand(t, "n[1-4]")}), "topology[1].name", "too long")
	if !strings.Contains(p.Hint, "end the name in a letter") {
		t.Errorf("hint %q", p.Hint)
	}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version, spine(t, "top", "x"), leaf(t, "x", "n[1-4]")))
		bad := swap(t, swap(t, set, "topology.conf", "SwitchName=x", "SwitchName="+guid), "topology.conf", "Switches=x", "Switches="+guid)
		refused(t, j, bad, "invalid child")
		loaded(t, j, swap(t, swap(t, set, "topology.conf", "SwitchName=x", "SwitchName="+guid+"x"), "topology.conf", "Switches=x", "Switches="+guid+"x"))
	})
}

// TestCaseS69: the tree has the cluster's nodes, and all of them.
func TestCaseS69(t *testing.T) {
	reported(t, four(slurmconf.V2411, leaf(t, "l", "n[1-5]")), "topology[0].nodes", `"n5"`)
	reported(t, four(slurmconf.V2411, leaf(t, "l", "n[1-3]")), "topology", "n4")
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version, leaf(t, "l", "n[1-4]")))
		verdict := j.Load(t, swap(t, set, "topology.conf", "n[1-4]", "n[1-3],other9"))
		if !strings.Contains(strings.ToLower(verdict.Log), "other9") {
			t.Errorf("slurmctld says nothing of the unknown node:\n%s", verdict.Log)
		}
	})
}

// TestCaseS80: flat means no line, since the plugin's name differs.
func TestCaseS80(t *testing.T) {
	for _, v := range slurmconf.Supported {
		hasNot(t, render(t, four(v)), "slurm.conf", "TopologyPlugin")
	}
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version))
		flat := with(set, "slurm.conf", set.Content("slurm.conf")+"TopologyPlugin=topology/flat\n")
		if verdict := j.Load(t, flat); verdict.Loaded != j.Version.AtLeast(slurmconf.V2505) {
			t.Errorf("topology/flat on %s: loaded %v\n%s", j.Version, verdict.Loaded, verdict.Log)
		}
	})
}

// TestCaseS81: a switch has nodes or switches; and the key is Switches.
func TestCaseS81(t *testing.T) {
	both := topology.Switch{Name: "h", Nodes: expand(t, "n[1-2]"), Switches: []string{"l"}}
	reported(t, four(slurmconf.V2411, both, leaf(t, "l", "n[3-4]")), "topology[0].switches", "both nodes and switches")
	every(t, func(t *testing.T, j *judge.Judge) {
		set := render(t, four(j.Version, spine(t, "t", "l[1-2]"), leaf(t, "l1", "n[1-2]"), leaf(t, "l2", "n[3-4]")))
		loaded(t, j, set)
		for _, bad := range []string{"SwitchName=t Nodes=n1 Switches=l[1-2]", "SwitchName=t Children=l[1-2]"} {
			if verdict := j.Load(t, swap(t, set, "topology.conf", "SwitchName=t Switches=l[1-2]", bad)); verdict.Loaded {
				t.Errorf("%s is loaded", bad)
			}
		}
	})
}

// TestCaseS83: a fabric by hand is loaded as it is written, whatever the order
// in which it was told.
func TestCaseS83(t *testing.T) {
	every(t, func(t *testing.T, j *judge.Judge) {
		told := []topology.Switch{leaf(t, "l2", "n[3-4]"), spine(t, "t", "l2,l1"), leaf(t, "l1", "n2,n1")}
		set := render(t, four(j.Version, told...))
		has(t, set, "topology.conf", "SwitchName=l1 Nodes=n[1-2]", "SwitchName=l2 Nodes=n[3-4]", "SwitchName=t Switches=l[1-2]")
		if verdict := loaded(t, j, set); len(verdict.Complaints) > 0 {
			for _, line := range verdict.Complaints {
				if !known(line) {
					t.Error(line)
				}
			}
		}
	})
}
