package slurmconf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/topology"
)

// good is a cluster without problems that each case below spoils.
func good(v Version) Cluster {
	return Cluster{
		Name: "c", Version: v, Controllers: []Controller{{Name: "ctl"}}, Accounting: &Accounting{Host: "ctl"},
		Nodes:      nodes("gpu[1-2]", labGPU),
		Partitions: []Partition{{Name: "all", Nodes: names("gpu[1-2]"), Default: true}},
	}
}

func TestGoodHasNoProblems(t *testing.T) {
	for _, v := range Supported {
		if problems := Check(good(v)); len(problems) > 0 {
			t.Errorf("%s: %v", v, problems)
		}
		for name, c := range samples(v) {
			if errs := Check(c).Errors(); len(errs) > 0 {
				t.Errorf("%s %s: %v", v, name, errs)
			}
		}
	}
}

func extra(file, key, value string) func(*Cluster) {
	return func(c *Cluster) { c.Extra = map[string]map[string]string{file: {key: value}} }
}

func slurmExtra(key, value string) func(*Cluster) { return extra("slurm.conf", key, value) }

// TestCheck: each way to spoil a cluster is reported at its path, and nothing
// else is.
func TestCheck(t *testing.T) {
	cases := map[string]struct {
		version Version // zero: 24.11
		spoil   func(*Cluster)
		path    string
		says    string
	}{
		"no version":      {spoil: func(c *Cluster) { c.Version = Version{} }, path: "version", says: "no Slurm version"},
		"other version":   {spoil: func(c *Cluster) { c.Version = V2505 }, path: "version", says: "25.05 is not supported"},
		"hosts ahead":     {spoil: func(c *Cluster) { c.OldestReader = V2605 }, path: "oldestReader", says: "newer"},
		"upper case name": {spoil: func(c *Cluster) { c.Name = "Cluster" }, path: "name", says: "Cluster"},
		"no controller":   {spoil: func(c *Cluster) { c.Controllers = nil }, path: "controllers", says: "no controller"},
		"controller twice": {spoil: func(c *Cluster) {
			c.Controllers = []Controller{{Name: "a"}, {Name: "a"}}
			c.Paths.StateSaveLocation = "/s"
		}, path: "controllers[1].name", says: "already controllers[0]"},
		"HA without shared state": {spoil: func(c *Cluster) { c.Controllers = []Controller{{Name: "a"}, {Name: "b"}} }, path: "paths.stateSaveLocation", says: "shared"},
		"relative path":           {spoil: func(c *Cluster) { c.Paths.SlurmdSpoolDir = "spool" }, path: "paths.slurmdSpoolDir", says: "spool"},
		"database's long name":    {spoil: func(c *Cluster) { c.Accounting.Host = "db.site" }, path: "accounting.host", says: "short name"},
		"unknown enforcement":     {spoil: func(c *Cluster) { c.Accounting.Enforce = []string{"qos", "limit"} }, path: "accounting.enforce[1]", says: "limit"},
		"storage of another":      {spoil: func(c *Cluster) { c.Accounting.External, c.Accounting.Storage.Host = true, "x" }, path: "accounting.storage", says: "own database"},

		"node twice": {spoil: func(c *Cluster) { c.Nodes[1].Name = "gpu1"; c.Partitions[0].Nodes = names("gpu1") }, path: "nodes[1].name", says: "already nodes[0]"},
		"node called ALL": {spoil: func(c *Cluster) {
			c.Nodes = append(c.Nodes, Node{Name: "all", Sockets: 1, CoresPerSocket: 1, ThreadsPerCore: 1, RealMemoryMiB: 1})
		}, path: "nodes[2].name", says: "every node"},
		"long number": {spoil: func(c *Cluster) {
			c.Nodes = append(c.Nodes, nodes("n12345678901234567", cpuOnly)...)
			c.Nodes[2].Name = "n1234567890123456789"
		}, path: "nodes[2].name", says: "too long"},
		"no sockets":          {spoil: func(c *Cluster) { c.Nodes[1].Sockets = 0 }, path: "nodes[1].sockets", says: "0 sockets"},
		"no memory":           {spoil: func(c *Cluster) { c.Nodes[1].RealMemoryMiB = 0 }, path: "nodes[1].realMemoryMiB", says: "0 MiB"},
		"feature with blank":  {spoil: func(c *Cluster) { c.Nodes[1].Features = []string{"ok", "not ok"} }, path: "nodes[1].features[1]", says: "not ok"},
		"state":               {spoil: func(c *Cluster) { c.Nodes[1].State = "IDLE" }, path: "nodes[1].state", says: "IDLE"},
		"address":             {spoil: func(c *Cluster) { c.Nodes[1].Addr = "10.0.0.1,10.0.0.2" }, path: "nodes[1].addr", says: "10.0.0.2"},
		"port":                {spoil: func(c *Cluster) { c.Nodes[1].Port = 70000 }, path: "nodes[1].port", says: "70000"},
		"GPU without type":    {spoil: func(c *Cluster) { c.Nodes[1].GPUs = []GPUSet{{Count: 8}} }, path: "nodes[1].gpus[0].type", says: "without type"},
		"GPU type with colon": {spoil: func(c *Cluster) { c.Nodes[1].GPUs = []GPUSet{{Type: "nvidia:a100", Count: 4}} }, path: "nodes[1].gpus[0].type", says: "nvidia:a100"},
		"no GPUs":             {spoil: func(c *Cluster) { c.Nodes[1].GPUs = []GPUSet{{Type: "a100"}} }, path: "nodes[1].gpus[0].count", says: "0 GPUs"},
		"same device": {spoil: func(c *Cluster) {
			c.Nodes[1].GPUs = []GPUSet{{Type: "a", Count: 4}, {Type: "b", Count: 4, FirstDevice: 3}}
		}, path: "nodes[1].gpus[1]", says: "/dev/nvidia3"},
		"too few files":    {spoil: func(c *Cluster) { c.Nodes[1].GPUs = []GPUSet{{Type: "a", Count: 2, Files: []string{"/dev/x0"}}} }, path: "nodes[1].gpus[0].files", says: "1 files for 2"},
		"relative file":    {spoil: func(c *Cluster) { c.Nodes[1].GPUs = []GPUSet{{Type: "a", Count: 1, Files: []string{"x0"}}} }, path: "nodes[1].gpus[0].files", says: "x0"},
		"cores beyond":     {spoil: func(c *Cluster) { c.Nodes[1].GPUs[0].Cores = "16-32" }, path: "nodes[1].gpus[0].cores", says: "no core 32"},
		"cores unreadable": {spoil: func(c *Cluster) { c.Nodes[1].GPUs[0].Cores = "0:3" }, path: "nodes[1].gpus[0].cores", says: "0:3"},
		"same host":        {spoil: func(c *Cluster) { c.Nodes[0].Hostname, c.Nodes[1].Hostname = "t1", "t1" }, path: "nodes[1].hostname", says: "t1"},

		"no partition":        {spoil: func(c *Cluster) { c.Partitions = nil }, path: "partitions", says: "no partition"},
		"partition twice":     {spoil: func(c *Cluster) { c.Partitions = append(c.Partitions, Partition{Name: "all"}) }, path: "partitions[1].name", says: "already partitions[0]"},
		"partition DEFAULT":   {spoil: func(c *Cluster) { c.Partitions[0].Name = "default" }, path: "partitions[0].name", says: "every later partition"},
		"two defaults":        {spoil: func(c *Cluster) { c.Partitions = append(c.Partitions, Partition{Name: "b", Default: true}) }, path: "partitions[1].default", says: "partitions[0]"},
		"no such node":        {spoil: func(c *Cluster) { c.Partitions[0].Nodes = names("gpu[1-4]") }, path: "partitions[0].nodes", says: "gpu[3-4]"},
		"node named twice":    {spoil: func(c *Cluster) { c.Partitions[0].Nodes = names("gpu1,gpu1") }, path: "partitions[0].nodes", says: "twice"},
		"no such set":         {spoil: func(c *Cluster) { c.Partitions[0].NodeSets = []string{"s"} }, path: "partitions[0].nodeSets[0]", says: "no such node set"},
		"time":                {spoil: func(c *Cluster) { c.Partitions[0].MaxTime = "2 days" }, path: "partitions[0].maxTime", says: "2 days"},
		"default over max":    {spoil: func(c *Cluster) { c.Partitions[0].MaxTime, c.Partitions[0].DefaultTime = "1:00:00", "61" }, path: "partitions[0].defaultTime", says: "61"},
		"min over max":        {spoil: func(c *Cluster) { c.Partitions[0].MinNodes, c.Partitions[0].MaxNodes = 3, 2 }, path: "partitions[0].minNodes", says: "wants 3"},
		"minus one":           {spoil: func(c *Cluster) { c.Partitions[0].MaxNodes = -1 }, path: "partitions[0].maxNodes", says: "-1"},
		"oversubscribe":       {spoil: func(c *Cluster) { c.Partitions[0].OverSubscribe = "FORCE:0" }, path: "partitions[0].overSubscribe", says: "FORCE:0"},
		"QOS, no database":    {spoil: func(c *Cluster) { c.Accounting = nil; c.Partitions[0].QOS = "q" }, path: "partitions[0].qos", says: "database"},
		"partition's own key": {spoil: func(c *Cluster) { c.Partitions[0].Extra = map[string]string{"maxtime": "1"} }, path: "partitions[0].extra.maxtime", says: "written by the toolkit"},
		"partition's key":     {version: V2205, spoil: func(c *Cluster) { c.Partitions[0].Extra = map[string]string{"PowerDownOnIdle": "yes"} }, path: "partitions[0].extra.PowerDownOnIdle", says: "not in Slurm 22.05"},
		"node's key":          {spoil: func(c *Cluster) { c.Nodes[0].Extra = map[string]string{"Parameters": "x"} }, path: "nodes[0].extra.Parameters", says: "not in Slurm 24.11"},
		"set as node":         {spoil: func(c *Cluster) { c.NodeSets = []NodeSet{{Name: "gpu1", Feature: "f"}} }, path: "nodeSets[0].name", says: "name of a node"},
		"set without members": {spoil: func(c *Cluster) { c.NodeSets = []NodeSet{{Name: "s"}} }, path: "nodeSets[0].nodes", says: "no members"},

		"leaf with unknown node": {spoil: func(c *Cluster) { c.Topology = []topology.Switch{{Name: "s", Nodes: names("gpu[1-3]")}} }, path: "topology[0].nodes", says: "gpu3"},
		"node in no switch":      {spoil: func(c *Cluster) { c.Topology = []topology.Switch{{Name: "s", Nodes: names("gpu1")}} }, path: "topology", says: "gpu2"},

		"negative weight":     {spoil: func(c *Cluster) { c.Priority.Age = -1 }, path: "priority.age", says: "-1"},
		"priority flag":       {spoil: func(c *Cluster) { c.Priority.Flags = []string{"FAIR"} }, path: "priority.flags[0]", says: "FAIR"},
		"no decay":            {spoil: func(c *Cluster) { c.Priority.DecayHalfLife = "0" }, path: "priority.decayHalfLife", says: "reset"},
		"preempt by":          {spoil: func(c *Cluster) { c.Preemption = &Preemption{By: "size", Mode: "cancel"} }, path: "preemption.by", says: "size"},
		"preempt mode":        {spoil: func(c *Cluster) { c.Preemption = &Preemption{By: "qos", Mode: "kill"} }, path: "preemption.mode", says: "kill"},
		"private tmp in tmp":  {spoil: func(c *Cluster) { c.PrivateTmp = &PrivateTmp{BasePath: "/tmp"} }, path: "privateTmp.basePath", says: "/tmp"},
		"private dirs":        {version: V2205, spoil: func(c *Cluster) { c.PrivateTmp = &PrivateTmp{Dirs: []string{"/tmp"}} }, path: "privateTmp.dirs", says: "22.05"},
		"health program":      {spoil: func(c *Cluster) { c.HealthCheck = &HealthCheck{Program: "nhc"} }, path: "healthCheck.program", says: "nhc"},
		"health state":        {spoil: func(c *Cluster) { c.HealthCheck = &HealthCheck{Program: "/nhc", NodeState: "START_ONLY"} }, path: "healthCheck.nodeState", says: "START_ONLY"},
		"detection too early": {version: V2205, spoil: func(c *Cluster) { c.GPUAutoDetect = "nvidia" }, path: "gpuAutoDetect", says: "22.05"},

		"unknown key":          {spoil: slurmExtra("MaxArraySizes", "5"), path: `extra."slurm.conf".MaxArraySizes`, says: "no release"},
		"key of our own":       {spoil: slurmExtra("ClusterName", "x"), path: `extra."slurm.conf".ClusterName`, says: "written by the toolkit"},
		"key not yet":          {version: V2205, spoil: slurmExtra("PreemptParameters", "min_exempt_priority"), path: `extra."slurm.conf".PreemptParameters`, says: "not in Slurm 22.05"},
		"key no more":          {spoil: slurmExtra("GroupUpdateForced", "1"), path: `extra."slurm.conf".GroupUpdateForced`, says: "no release"},
		"empty value":          {spoil: slurmExtra("MailProg", " "), path: `extra."slurm.conf".MailProg`, says: "empty"},
		"hash in value":        {spoil: slurmExtra("MailProg", "/bin/x#y"), path: `extra."slurm.conf".MailProg`, says: `"#"`},
		"quote in value":       {spoil: slurmExtra("MailProg", `a"b`), path: `extra."slurm.conf".MailProg`, says: "quote"},
		"line break":           {spoil: slurmExtra("MailProg", "/x\nNodeName=evil"), path: `extra."slurm.conf".MailProg`, says: "line break"},
		"not a number":         {spoil: slurmExtra("MaxArraySize", "many"), path: `extra."slurm.conf".MaxArraySize`, says: "many"},
		"not a boolean":        {spoil: slurmExtra("DisableRootJobs", "maybe"), path: `extra."slurm.conf".DisableRootJobs`, says: "maybe"},
		"unknown strict token": {spoil: slurmExtra("DebugFlags", "Gress"), path: `extra."slurm.conf".DebugFlags`, says: "Gress"},
		"token not yet":        {version: V2205, spoil: slurmExtra("PrologFlags", "RunInJob"), path: `extra."slurm.conf".PrologFlags`, says: "not in Slurm 22.05"},
		"token no more":        {spoil: slurmExtra("CommunicationParameters", "NoAddrCache"), path: `extra."slurm.conf".CommunicationParameters`, says: "no longer heeds"},
		"file of no kind":      {spoil: extra("slrum.conf", "A", "b"), path: `extra."slrum.conf"`, says: "no file"},
		"cgroup key too late":  {version: V2605, spoil: extra("cgroup.conf", "ConstrainKmemSpace", "yes"), path: `extra."cgroup.conf".ConstrainKmemSpace`, says: "no use"},
		"dbd key too early":    {spoil: extra("slurmdbd.conf", "DisableRollups", "yes"), path: `extra."slurmdbd.conf".DisableRollups`, says: "not in Slurm 24.11"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := c.version
			if v.IsZero() {
				v = V2411
			}
			cluster := good(v)
			cluster.Nodes = append([]Node(nil), cluster.Nodes...)
			for i := range cluster.Nodes {
				cluster.Nodes[i].GPUs = slices.Clone(cluster.Nodes[i].GPUs)
			}
			c.spoil(&cluster)
			problems := Check(cluster)
			if len(problems) != 1 || problems[0].Path != c.path || !strings.Contains(problems[0].What, c.says) || problems[0].Severity != Error {
				t.Fatalf("problems %q; want one error at %s that says %q", problems, c.path, c.says)
			}
			if _, err := Render(cluster); err == nil {
				t.Error("it is rendered all the same")
			}
		})
	}
}

// TestAllAtOnce: one run reports every problem, the same way each time.
func TestAllAtOnce(t *testing.T) {
	c := good(V2205)
	c.Name = "Bad"
	c.Nodes[0].Sockets = 0
	c.Partitions[0].MaxTime = "soon"
	c.Extra = map[string]map[string]string{"slurm.conf": {"Nope": "1", "HashPlugin": "hash/k12"}, "cgroup.conf": {"CgroupSlice": "x"}}
	first := Check(c)
	if len(first) != 6 {
		t.Errorf("%d problems; want 6:\n%s", len(first), first)
	}
	for range 20 {
		if again := Check(c); again.Error() != first.Error() {
			t.Fatalf("two reports differ:\n%s\n\n%s", first, again)
		}
	}
}

func TestAdvice(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Cluster)
		path  string
	}{
		"loose token":      {slurmExtra("SchedulerParameters", "bf_contineu"), `extra."slurm.conf".SchedulerParameters`},
		"sockets as cores": {func(c *Cluster) { c.Nodes[0].Sockets, c.Nodes[0].CoresPerSocket = 12, 1 }, "nodes[0].sockets"},
		"two roots": {func(c *Cluster) {
			c.Topology = []topology.Switch{{Name: "a", Nodes: names("gpu1")}, {Name: "b", Nodes: names("gpu2")}}
		}, "topology"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := good(V2411)
			c.spoil(&cluster)
			problems := Check(cluster)
			if len(problems) != 1 || problems[0].Severity != Advice || problems[0].Path != c.path || problems[0].Hint == "" {
				t.Errorf("problems %v; want one piece of advice at %s", problems, c.path)
			}
			if _, err := Render(cluster); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOldestReader: during an upgrade a key must be known to every reader.
func TestOldestReader(t *testing.T) {
	c := good(V2605)
	c.OldestReader = V2411
	c.Extra = map[string]map[string]string{"slurm.conf": {"HealthCheckTimeout": "90"}}
	problems := Check(c)
	if len(problems) != 1 || !strings.Contains(problems[0].What, "24.11") {
		t.Errorf("problems %v; want one about 24.11", problems)
	}
	c.OldestReader = Version{}
	if problems := Check(c); len(problems) != 0 {
		t.Errorf("problems %v with one release", problems)
	}
}

func TestHintsNameTheNearestKey(t *testing.T) {
	c := good(V2411)
	slurmExtra("MaxArraySizes", "5")(&c)
	if hint := Check(c)[0].Hint; hint != "did you mean MaxArraySize?" {
		t.Errorf("hint %q", hint)
	}
}

func TestParseTime(t *testing.T) {
	for text, want := range map[string]int64{
		"5": 300, "5:30": 330, "1:00:00": 3600, "2-0": 172800, "1-12:30": 131400, "1-0:0:1": 86401, "UNLIMITED": -1, "infinite": -1, "0": 0,
	} {
		if got, ok := ParseTime(text); !ok || got != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1:2:3:4", "1d", "-1", "1-", "1-2:3:4:5", "1.5", " 5", "a-1"} {
		if got, ok := ParseTime(text); ok {
			t.Errorf("ParseTime(%q) = %d; want no time", text, got)
		}
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Version{"22.05": V2205, "24.11.5": V2411, "26.05": V2605} {
		if got, err := ParseVersion(text); err != nil || got != want || !strings.HasPrefix(text, got.String()) {
			t.Errorf("ParseVersion(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "22", "22.5", "2.05", "22.05.1.1", "22.0x", "22.05."} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("ParseVersion(%q) = %v; want an error", text, got)
		}
	}
}

func TestStoragePass(t *testing.T) {
	text, err := WithStoragePass("A=b\n", "s3cret")
	if err != nil || text != "A=b\nStoragePass=s3cret\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, bad := range []string{"", "pass word", `pass"word`, "pass#word", `pass\word`, "pass\nword"} {
		if _, err := WithStoragePass("", bad); err == nil || bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("password %q: %v; want an error that does not repeat it", bad, err)
		}
	}
}

// TestExtraKeys: a key takes the place of a default, adds to a list, or follows.
func TestExtraKeys(t *testing.T) {
	c := good(V2411)
	c.Extra = map[string]map[string]string{"slurm.conf": {
		"returntoservice": "1", "SlurmctldParameters": "rl_enable,enable_configless", "MaxJobCount": "20000", "PrologFlags": "X11",
		"SlurmctldDebug": "verbose", "SchedulerParameters": "bf_continue,bf_window=4320",
	}}
	set, err := Render(c)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := Parse(set.Content("slurm.conf"))
	if err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	for _, l := range lines {
		for _, p := range l.Pairs {
			values[strings.ToLower(p.Key)] = append(values[strings.ToLower(p.Key)], p.Value)
		}
	}
	for key, want := range map[string]string{
		"returntoservice": "[1]", "slurmctldparameters": "[enable_configless,rl_enable]", "maxjobcount": "[20000]",
		"prologflags": "[Contain,X11]", "slurmctlddebug": "[verbose]", "schedulerparameters": "[bf_continue,bf_window=4320]",
	} {
		if got := fmt.Sprint(values[key]); got != want {
			t.Errorf("%s = %s; want %s", key, got, want)
		}
	}
}

// TestRootPartition: hosts that root could not use are in a hidden partition,
// and only those.
func TestRootPartition(t *testing.T) {
	c := good(V2411)
	c.Nodes = nodes("gpu[1-4]", labGPU)
	c.Partitions = []Partition{
		{Name: "open", Nodes: names("gpu1"), Default: true}, {Name: "by-set", NodeSets: []string{"s", "f"}},
		{Name: "closed", Nodes: names("gpu[1-4]"), AllowAccounts: []string{"a"}},
	}
	c.Nodes[2].Features = []string{"x"}
	c.NodeSets = []NodeSet{{Name: "s", Nodes: names("gpu2")}, {Name: "f", Feature: "x"}}
	set, err := Render(c)
	if err != nil {
		t.Fatal(err)
	}
	want := "PartitionName=gpucluster Nodes=gpu4 Hidden=YES RootOnly=YES\n"
	if text := set.Content("slurm.conf"); !strings.HasSuffix(text, want) {
		t.Errorf("no line %q in\n%s", want, text)
	}
	c.Partitions[0].Nodes = names("gpu[1-4]")
	if set, err = Render(c); err != nil || strings.Contains(set.Content("slurm.conf"), RootPartition+" ") {
		t.Errorf("a root partition without need, %v", err)
	}
	c.Extra = map[string]map[string]string{"slurm.conf": {"DisableRootJobs": "YES"}}
	want = "PartitionName=gpucluster Nodes=gpu[1-4] DisableRootJobs=NO Hidden=YES RootOnly=YES\n"
	if set, err = Render(c); err != nil || !strings.HasSuffix(set.Content("slurm.conf"), want) {
		t.Errorf("no line %q, %v", want, err)
	}
	c.Partitions[0].Name = RootPartition
	if problems := Check(c); len(problems) != 1 || problems[0].Path != "partitions[0].name" {
		t.Errorf("problems %v", problems)
	}
}
