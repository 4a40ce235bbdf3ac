package impact

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

func names(expr string) []string {
	out, err := hostlist.Expand(expr)
	if err != nil {
		panic(err)
	}
	return out
}

// base is the cluster that every case changes.
func base(v slurmconf.Version) slurmconf.Cluster {
	c := slurmconf.Cluster{
		Name: "c", Version: v, Controllers: []slurmconf.Controller{{Name: "ctl"}},
		Accounting: &slurmconf.Accounting{Host: "db"},
		Partitions: []slurmconf.Partition{
			{Name: "train", Nodes: names("gpu[1-4]"), Default: true, MaxTime: "1-0"},
			{Name: "debug", Nodes: names("gpu[1-2]"), MaxTime: "30:00"},
		},
	}
	for _, n := range names("gpu[1-4]") {
		c.Nodes = append(c.Nodes, slurmconf.Node{
			Name: n, Sockets: 2, CoresPerSocket: 8, ThreadsPerCore: 1, RealMemoryMiB: 64000,
			GPUs: []slurmconf.GPUSet{{Type: "h100", Count: 8}},
		})
	}
	return c
}

func addNodes(c *slurmconf.Cluster, expr string) {
	for _, n := range names(expr) {
		node := c.Nodes[0]
		node.Name = n
		c.Nodes = append(c.Nodes, node)
		c.Partitions[0].Nodes = append(c.Partitions[0].Nodes, n)
	}
}

func dropNode(c *slurmconf.Cluster, name string) {
	kept := c.Nodes[:0]
	for _, n := range c.Nodes {
		if n.Name != name {
			kept = append(kept, n)
		}
	}
	c.Nodes = kept
	for i := range c.Partitions {
		var members []string
		for _, n := range c.Partitions[i].Nodes {
			if n != name {
				members = append(members, n)
			}
		}
		c.Partitions[i].Nodes = members
	}
}

// TestCompare is the table of what each change costs, on a release that takes
// nodes in a reconfigure and on one that does not.
func TestCompare(t *testing.T) {
	cases := map[string]struct {
		change           func(*slurmconf.Cluster)
		says             []string // lines that the plan has
		want24, want2205 []string // summary
	}{
		"nothing": {func(*slurmconf.Cluster) {}, nil, nil, nil},
		"order alone": {
			func(c *slurmconf.Cluster) { c.Nodes[0], c.Nodes[3] = c.Nodes[3], c.Nodes[0] }, nil, nil, nil,
		},
		"partition limit": {
			func(c *slurmconf.Cluster) { c.Partitions[0].MaxTime = "2-0" },
			[]string{"slurm.conf: partition train: MaxTime 1-0 -> 2-0"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "reconfigure on ctl"},
		},
		"partition added": {
			func(c *slurmconf.Cluster) {
				c.Partitions = append(c.Partitions, slurmconf.Partition{Name: "new", Nodes: names("gpu3")})
			},
			[]string{"slurm.conf: partition new added"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "reconfigure on ctl"},
		},
		"partition removed": {
			func(c *slurmconf.Cluster) { c.Partitions = c.Partitions[:1] },
			[]string{"slurm.conf: partition debug removed", "  (slurmctld ends the jobs of a partition that is gone)"},
			[]string{"wait for the partition's jobs", "reconfigure on ctl"},
			[]string{"wait for the partition's jobs", "place file on login", "reconfigure on ctl"},
		},
		"nodes added": {
			func(c *slurmconf.Cluster) { addNodes(c, "gpu[5-6]") },
			[]string{"slurm.conf: node gpu[5-6] added", "slurm.conf: partition train: Nodes gpu[1-4] -> gpu[1-6]"},
			[]string{"reconfigure on ctl", "join, closed until checked on gpu[5-6]"},
			[]string{"place file on login", "restart slurmctld on ctl", "restart slurmd on gpu[1-4]", "join, closed until checked on gpu[5-6]"},
		},
		"node removed": {
			func(c *slurmconf.Cluster) { dropNode(c, "gpu2") },
			[]string{"slurm.conf: node gpu2 removed"},
			[]string{"drain and wait on gpu2", "leave on gpu2", "reconfigure on ctl"},
			[]string{"drain and wait on gpu2", "leave on gpu2", "place file on login", "restart slurmctld on ctl", "restart slurmd on gpu[1,3-4]"},
		},
		"fewer GPUs": {
			func(c *slurmconf.Cluster) { c.Nodes[1].GPUs = []slurmconf.GPUSet{{Type: "h100", Count: 4}} },
			[]string{"slurm.conf: node gpu2: Gres gpu:h100:8 -> gpu:h100:4", "  (jobs on a node that changes its shape would be aborted)"},
			[]string{"drain and wait on gpu2", "reconfigure on ctl", "restart slurmd on gpu2"},
			[]string{"drain and wait on gpu2", "place file on login", "restart slurmctld on ctl", "restart slurmd on gpu[1-4]"},
		},
		"less memory": {
			func(c *slurmconf.Cluster) { c.Nodes[1].RealMemoryMiB = 60000 },
			[]string{"slurm.conf: node gpu2: RealMemory 64000 -> 60000"},
			[]string{"drain and wait on gpu2", "reconfigure on ctl", "restart slurmd on gpu2"},
			[]string{"drain and wait on gpu2", "place file on login", "restart slurmctld on ctl", "restart slurmd on gpu[1-4]"},
		},
		"more memory": {
			func(c *slurmconf.Cluster) { c.Nodes[1].RealMemoryMiB = 65000 },
			[]string{"slurm.conf: node gpu2: RealMemory 64000 -> 65000"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "reconfigure on ctl"},
		},
		"features": {
			func(c *slurmconf.Cluster) { c.Nodes[0].Features, c.Nodes[1].Features = []string{"ib"}, []string{"ib"} },
			[]string{"slurm.conf: node gpu[1-2]: Features set to ib"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "reconfigure on ctl"},
		},
		"device files": {
			func(c *slurmconf.Cluster) {
				c.Nodes[2].GPUs = []slurmconf.GPUSet{{Type: "h100", Count: 8, FirstDevice: 8}}
			},
			[]string{"gres.conf: node gpu3: GPUs Name=gpu Type=h100 Count=8 File=/dev/nvidia[0-7] -> Name=gpu Type=h100 Count=8 File=/dev/nvidia[8-15]"},
			[]string{"drain and wait on gpu3", "reconfigure on ctl", "restart slurmd on gpu3"},
			[]string{"drain and wait on gpu3", "reconfigure on ctl", "restart slurmd on gpu3"},
		},
		"topology": {
			func(c *slurmconf.Cluster) { c.Topology = []topology.Switch{{Name: "s1", Nodes: names("gpu[1-4]")}} },
			[]string{"slurm.conf: TopologyPlugin set to topology/tree", "topology.conf added"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "restart slurmctld on ctl"},
		},
		"confinement": {
			func(c *slurmconf.Cluster) { c.Overrides.NoSwap = true },
			[]string{"cgroup.conf changed", "  (+ConstrainSwapSpace=no, -ConstrainSwapSpace=yes)"},
			[]string{"reconfigure on ctl"},
			[]string{"reconfigure on ctl", "restart slurmd on gpu[1-4]"},
		},
		"database": {
			func(c *slurmconf.Cluster) { c.Accounting.Storage.Host = "sql" },
			[]string{"slurmdbd.conf changed", "  (-StorageHost=localhost, +StorageHost=sql)"},
			[]string{"restart slurmdbd on db"},
			[]string{"restart slurmdbd on db"},
		},
		"a plain key": {
			func(c *slurmconf.Cluster) {
				c.Extra = map[string]map[string]string{"slurm.conf": {"MaxArraySize": "5000"}}
			},
			[]string{"slurm.conf: MaxArraySize set to 5000"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "reconfigure on ctl"},
		},
		"a key that 22.05 reads at its start": {
			func(c *slurmconf.Cluster) {
				c.Extra = map[string]map[string]string{"slurm.conf": {"MaxJobCount": "50000"}}
			},
			[]string{"slurm.conf: MaxJobCount set to 50000"},
			[]string{"reconfigure on ctl"},
			[]string{"place file on login", "restart slurmctld on ctl"},
		},
		"state directory": {
			func(c *slurmconf.Cluster) { c.Paths.StateSaveLocation = "/srv/state" },
			[]string{"slurm.conf: StateSaveLocation /var/spool/slurmctld -> /srv/state"},
			[]string{"restart slurmctld on ctl"},
			[]string{"place file on login", "restart slurmctld on ctl"},
		},
		"name of the cluster": {
			func(c *slurmconf.Cluster) { c.Name = "d" },
			[]string{"slurm.conf: ClusterName c -> d"},
			[]string{"refuse on ctl"},
			[]string{"refuse on ctl", "place file on login"},
		},
		"slurm's user": {
			func(c *slurmconf.Cluster) { c.Paths.SlurmUser = "batch" },
			[]string{"slurm.conf: SlurmUser slurm -> batch"},
			[]string{"refuse on ctl", "restart slurmdbd on db"},
			[]string{"refuse on ctl", "restart slurmdbd on db", "place file on login"},
		},
	}
	for name, c := range cases {
		for v, want := range map[slurmconf.Version][]string{slurmconf.V2411: c.want24, slurmconf.V2605: c.want24, slurmconf.V2205: c.want2205} {
			t.Run(name+"/"+v.String(), func(t *testing.T) {
				next := base(v)
				c.change(&next)
				plan := compare(t, base(v), next)
				if got := plan.Summary(); !reflect.DeepEqual(got, want) {
					t.Errorf("summary %q; want %q\n%s", got, want, plan)
				}
				for _, line := range c.says {
					if !strings.Contains("\n"+plan.String(), "\n"+line+"\n") {
						t.Errorf("no line %q in\n%s", line, plan)
					}
				}
				if again := compare(t, base(v), next); plan.String() != again.String() {
					t.Error("two plans of one change differ")
				}
			})
		}
	}
}

func compare(t *testing.T, from, to slurmconf.Cluster) Plan {
	t.Helper()
	plan, err := Compare(Of(render(t, from), "login"), Of(render(t, to), "login"))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func render(t testing.TB, c slurmconf.Cluster) slurmconf.FileSet {
	t.Helper()
	set, err := slurmconf.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestFirstTime(t *testing.T) {
	plan, err := Compare(Set{}, Of(render(t, base(slurmconf.V2411)), "login"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"restart slurmdbd on db", "restart slurmctld on ctl", "join, closed until checked on gpu[1-4]"}
	if got := plan.Summary(); !reflect.DeepEqual(got, want) {
		t.Errorf("summary %q; want %q", got, want)
	}
}

// TestAnotherRelease checks that a built cluster keeps its release, whichever
// the other one is, and that it is said what can be done.
func TestAnotherRelease(t *testing.T) {
	for _, from := range slurmconf.Supported {
		for _, to := range slurmconf.Supported {
			plan := compare(t, base(from), base(to))
			refused := plan.Refused()
			if (len(refused) > 0) != (from != to) {
				t.Errorf("%s to %s: refused %v", from, to, refused)
			}
			if len(refused) > 0 && !strings.Contains(refused[0].Why, "mariadb-dump slurm_acct_db") {
				t.Errorf("%s to %s: %s", from, to, refused[0].Why)
			}
		}
	}
}

// TestPrologBelow2311: what configless does not push is placed on every host.
func TestPrologBelow2311(t *testing.T) {
	for v, want := range map[slurmconf.Version]string{slurmconf.V2205: "place file on gpu[1-4]", slurmconf.V2411: "reconfigure on ctl"} {
		from, to := Of(render(t, base(v))), Of(render(t, base(v)))
		to.Files["prolog.sh"] += "# more\n"
		plan, err := Compare(from, to)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Summary(); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %q; want %q", v, got, want)
		}
	}
}

func TestSimulatedNodesShareHosts(t *testing.T) {
	from := base(slurmconf.V2411)
	for i := range from.Nodes {
		from.Nodes[i].Hostname, from.Nodes[i].Port = "t1", 17001+i
	}
	to := from
	to.Nodes = append([]slurmconf.Node(nil), from.Nodes...)
	to.Nodes[3].Port = 18000
	plan := compare(t, from, to)
	if got := plan.Hosts(RestartHosts); !reflect.DeepEqual(got, []string{"t1"}) {
		t.Errorf("restart slurmd on %q; want t1\n%s", got, plan)
	}
	if !strings.Contains(plan.String(), "slurm.conf: node gpu4: Port changed") {
		t.Error(plan)
	}
}

func TestUnreadable(t *testing.T) {
	good := Of(render(t, base(slurmconf.V2411)))
	for name, text := range map[string]string{"slurm.conf": "NodeName: x", "gres.conf": "NodeName=a[1- Name=gpu", "slurmdbd.conf": "x"} {
		bad := Of(render(t, base(slurmconf.V2411)))
		bad.Files[name] = text
		if _, err := Compare(good, bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkCompare10240(b *testing.B) {
	c := base(slurmconf.V2411)
	addNodes(&c, "n[00001-10240]")
	from := Of(render(b, c))
	addNodes(&c, "n[10241-10242]")
	to := Of(render(b, c))
	b.ReportAllocs()
	for b.Loop() {
		if plan, err := Compare(from, to); err != nil || len(plan.Hosts(Join)) != 2 {
			b.Fatal(plan, err)
		}
	}
}

// TestCaseS78: a change of the topology restarts slurmctld up to 23.02 and
// reconfigures it from 23.11 on.
func TestCaseS78(t *testing.T) {
	for v, want := range map[slurmconf.Version]Action{slurmconf.V2205: RestartController, slurmconf.V2411: Reconfigure, slurmconf.V2605: Reconfigure} {
		from := base(v)
		from.Topology = []topology.Switch{{Name: "a", Nodes: names("gpu[1-4]")}}
		to := base(v)
		to.Topology = []topology.Switch{{Name: "t", Switches: names("a,b")}, {Name: "a", Nodes: names("gpu[1-2]")}, {Name: "b", Nodes: names("gpu[3-4]")}}
		plan := compare(t, from, to)
		if !plan.Needs(want) || len(plan.Hosts(RestartHosts)) > 0 || plan.Needs(RestartController) != (want == RestartController) {
			t.Errorf("%s: %s", v, plan)
		}
	}
}
