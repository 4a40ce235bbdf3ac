package slurmctl

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

func TestTrialConf(t *testing.T) {
	const conf = `# a comment with SlurmctldHost=x
ClusterName=live
SlurmctldHost=ctl1(10.0.0.1)
slurmctldport=7000
StateSaveLocation=/var/spool/slurmctld
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageTRES=gres/gpu
PriorityWeightTRES=gres/gpu=2000
NodeName=n[1-2] \
  CPUs=4
PartitionName=a Nodes=ALL QOS=q AllowQos=q,r TRESBillingWeights=GRES/gpu=8 State=UP
`
	const want = `ClusterName=live
NodeName=n[1-2]    CPUs=4
PartitionName=a Nodes=ALL State=UP

SlurmctldHost=gpucluster-trial
SlurmctldPort=6817
SlurmctldPidFile=/t/slurmctld.pid
SlurmctldLogFile=/t/slurmctld.log
StateSaveLocation=/t/state
SlurmUser=slurm
AccountingStorageType=accounting_storage/none
`
	if got := trialConf(conf, "/t", "slurm"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTrialFiles(t *testing.T) {
	files, err := trialFiles([]File{
		{Path: "/etc/slurm/slurm.conf", Content: "NodeName=n[1-2] NodeHostname=h1 NodeAddr=10.1.1.[1-2]\n"},
		{Path: "/etc/slurm/gres.conf", Content: "x"},
		{Path: "/etc/slurm/slurmdbd.conf", Content: "StoragePass=secret"},
		{Path: "/etc/slurm/prolog.d/10.sh", Content: "y"},
	}, []NodeSpec{{Name: "n1"}, {Name: "n2"}}, "slurm")
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string]string{}
	for _, f := range files {
		byPath[f.Path] = f.Content
		if strings.Contains(f.Content, "secret") {
			t.Errorf("%s holds the database's password", f.Path)
		}
	}
	want := "127.0.0.1 localhost\n192.0.2.1 gpucluster-trial\n10.64.0.0 n1\n10.64.0.1 n2\n10.64.0.2 h1\n"
	if byPath["/hosts"] != want {
		t.Errorf("hosts is\n%s\nwant\n%s", byPath["/hosts"], want)
	}
	if byPath["/gres.conf"] != "x" || len(files) != 4 {
		t.Errorf("the files are %v", byPath)
	}
	if _, err := trialFiles([]File{{Path: "/etc/slurm/gres.conf"}}, nil, "slurm"); err == nil {
		t.Error("a set without slurm.conf was accepted")
	}
}

func TestTrialLog(t *testing.T) {
	out := `[2026-01-02T03:04:05.678] error: bad key
[2026-01-02T03:04:06.789] error: bad key
slurmctld: fatal: /tmp/gpucluster-trial.AbCdEf/slurm.conf: no such thing
[2026-01-02T03:04:05.678] error: Could not open job state file state/job_state: No such file or directory
`
	if got := strings.Join(trialLog(out), "|"); got != "error: bad key|fatal: slurm.conf: no such thing" {
		t.Errorf("got %q", got)
	}
}

func TestCompareNodes(t *testing.T) {
	live := func(name string) Node {
		return Node{Name: name, CPUs: 8, Sockets: 2, Cores: 4, Threads: 1, RealMemory: 1000, Gres: []Gres{{"gpu", "h100", 8}}}
	}
	spec := func(name string, change func(*NodeSpec)) NodeSpec {
		s := NodeSpec{Name: name, CPUs: 8, Sockets: 2, Cores: 4, Threads: 1, RealMemory: 1000, Gres: []Gres{{"gpu", "h100", 8}}}
		if change != nil {
			change(&s)
		}
		return s
	}
	cases := map[string]struct {
		live    []Node
		desired []NodeSpec
		want    string
		what    string
	}{
		"nothing":        {want: "the same nodes"},
		"equal":          {live: []Node{live("n1")}, desired: []NodeSpec{spec("n1", nil)}, want: "the same nodes"},
		"all new":        {desired: []NodeSpec{spec("n10", nil), spec("n9", nil)}, want: "new n[9-10]"},
		"one goes":       {live: []Node{live("n2"), live("n1")}, desired: []NodeSpec{spec("n1", nil)}, want: "without n2"},
		"more memory":    {live: []Node{live("n1")}, desired: []NodeSpec{spec("n1", func(s *NodeSpec) { s.RealMemory = 2000 })}, want: "the same nodes"},
		"less memory":    {live: []Node{live("n1")}, desired: []NodeSpec{spec("n1", func(s *NodeSpec) { s.RealMemory = 999 })}, want: "another shape of n1", what: "RealMemory 1000 -> 999"},
		"fewer GPUs":     {live: []Node{live("n1")}, desired: []NodeSpec{spec("n1", func(s *NodeSpec) { s.Gres[0].Count = 4 })}, want: "another shape of n1", what: "Gres gpu:h100:8 -> gpu:h100:4"},
		"no GPUs":        {live: []Node{live("n1")}, desired: []NodeSpec{spec("n1", func(s *NodeSpec) { s.Gres = nil })}, want: "another shape of n1", what: "Gres gpu:h100:8 -> none"},
		"more CPUs":      {live: []Node{live("n1")}, desired: []NodeSpec{spec("n1", func(s *NodeSpec) { s.CPUs = 16; s.Threads = 2 })}, want: "another shape of n1", what: "CPUs 8 -> 16, ThreadsPerCore 1 -> 2"},
		"all at once":    {live: []Node{live("n1"), live("n2")}, desired: []NodeSpec{spec("n2", func(s *NodeSpec) { s.Sockets = 1 }), spec("n3", nil)}, want: "new n3, without n1, another shape of n2", what: "Sockets 2 -> 1"},
		"weird ordering": {live: []Node{live("n10"), live("n9"), live("n8")}, want: "without n[8-10]"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := CompareNodes(c.live, c.desired)
			if got.String() != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			what := ""
			for _, r := range got.Reshaped {
				what += strings.Join(r.What, ", ")
			}
			if what != c.what {
				t.Errorf("changes %q, want %q", what, c.what)
			}
			if len(got.Busy()) != len(got.Removed)+len(got.Reshaped) || got.Empty() != (c.want == "the same nodes") {
				t.Errorf("busy %v, empty %v", got.Busy(), got.Empty())
			}
		})
	}
}

func TestRootPartition(t *testing.T) {
	up := func(name string, change func(*Partition)) Partition {
		p := Partition{Name: name, State: "UP", Nodes: []string{"n1", "n2"}}
		if change != nil {
			change(&p)
		}
		return p
	}
	cases := map[string]struct {
		all  []Partition
		want string
	}{
		"the only one":           {[]Partition{up("a", nil)}, "a"},
		"open before bound":      {[]Partition{up("a", func(p *Partition) { p.AllowAccounts = []string{"x"} }), up("b", nil)}, "b"},
		"root's own before open": {[]Partition{up("a", nil), up("b", func(p *Partition) { p.RootOnly = true })}, "b"},
		"bound before none":      {[]Partition{up("a", func(p *Partition) { p.AllowQOS = []string{"x"} })}, "a"},
		"never without root":     {[]Partition{up("a", func(p *Partition) { p.NoRoot = true })}, ""},
		"never one that is down": {[]Partition{up("a", func(p *Partition) { p.State = "DOWN" })}, ""},
		"never of other nodes":   {[]Partition{up("a", func(p *Partition) { p.Nodes = []string{"n3"} })}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := rootPartition(c.all, "n1")
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestParseSeen(t *testing.T) {
	seen, err := parseSeen("n10 host b\nn9 devices 0,1\nn9 host a\nn10 devices \nn10 smi\nn10 smi GPU 0: X\nn10 smi   MIG 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != 2 || seen[0].Node != "n9" || len(seen[0].Devices) != 2 || seen[0].SMI != nil ||
		len(seen[1].SMI) != 1 || len(seen[1].Devices) != 0 {
		t.Errorf("got %+v", seen)
	}
	for gpus, wrong := range map[int64]bool{1: true, 2: false} {
		if err := seen[0].check(gpus); (err != nil) != wrong {
			t.Errorf("with %d GPUs: %v", gpus, err)
		}
	}
	if err := seen[1].check(0); err != nil {
		t.Errorf("a job without GPUs: %v", err)
	}
	if _, err := parseSeen("n1 surprise\n"); err == nil {
		t.Error("odd output was accepted")
	}
}

// TestPlaceAndRestore runs the shell host's scripts on this machine, in a folder of
// its own.
func TestPlaceAndRestore(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("skipped: changing owners needs root rights")
	}
	dir := t.TempDir()
	host := Shell{Runner: shell.Exec{"sh", "-c"}}
	ctx := context.Background()
	file := func(name, content string) File {
		return File{Path: filepath.Join(dir, name), Content: content}
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return "none"
		}
		return string(data)
	}
	if err := os.WriteFile(filepath.Join(dir, "it's old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := file("secret", "s3")
	secret.Mode, secret.Owner, secret.Group = 0o600, "nobody", "nogroup"
	files := []File{file("it's old", "new"), file("deep/er", "x"), secret}
	first := Placement{ID: "one", Files: files}
	if err := host.Place(ctx, first); err != nil {
		t.Fatal(err)
	}
	if got := read("it's old") + read("deep/er") + read("secret"); got != "newxs3" {
		t.Errorf("placed %q", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "secret")); err != nil || info.Mode() != 0o600 {
		t.Errorf("the secret has mode %v (%v)", info.Mode(), err)
	}
	if err := host.Restore(ctx, first); err != nil {
		t.Fatal(err)
	}
	if got := read("it's old") + read("deep/er") + read("secret"); got != "oldnonenone" {
		t.Errorf("restored %q", got)
	}
	// What Place never reached is not restored: there is nothing to go back to.
	if err := host.Restore(ctx, first); err != nil || read("it's old") != "old" {
		t.Errorf("a second restore: %v, %q", err, read("it's old"))
	}
	// A file that cannot be placed leaves the others alone.
	bad := append([]File{file("it's old", "newer")}, file("deep/er", "y"))
	bad[1].Owner = "no-such-user"
	if err := host.Place(ctx, Placement{ID: "two", Files: bad}); err == nil || read("it's old") != "old" || read("deep/er") != "none" {
		t.Errorf("a bad set: %v, %q, %q", err, read("it's old"), read("deep/er"))
	}
	// What an earlier placement kept is none of a later one's, settled or not.
	for _, settled := range []bool{false, true} {
		if err := host.Place(ctx, first); err != nil {
			t.Fatal(err)
		}
		if settled {
			if err := host.Settle(ctx, first); err != nil {
				t.Fatal(err)
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, ".*gpucluster*")); len(kept) != 0 {
				t.Errorf("kept after it was settled: %v", kept)
			}
		}
		two := Placement{ID: "two", Files: bad}
		if err := host.Restore(ctx, two); err != nil || read("it's old") != "new" {
			t.Errorf("settled %v: a placement that never began was restored to %q (%v)", settled, read("it's old"), err)
		}
		if host.Place(ctx, two) == nil {
			t.Fatal("a bad set was placed")
		}
		if err := host.Restore(ctx, two); err != nil || read("it's old")+read("deep/er") != "newx" {
			t.Errorf("settled %v: a placement that failed early was restored to %q, %q (%v)", settled, read("it's old"), read("deep/er"), err)
		}
	}
	if err := host.Place(ctx, Placement{Files: []File{{Path: "relative"}}}); err == nil {
		t.Error("a relative path was accepted")
	}
	left, _ := filepath.Glob(filepath.Join(dir, ".*new"))
	if len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestHostsStopThePrimaryLast(t *testing.T) {
	var did []string
	host := func(name string) Host {
		return Shell{Start: "start " + name, Stop: "stop " + name, Runner: shell.RunnerFunc(func(_ context.Context, c string, _ []byte) ([]byte, error) {
			did = append(did, c)
			return nil, nil
		})}
	}
	both := Hosts{host("primary"), host("backup")}
	if err := errors.Join(both.StopController(context.Background()), both.StartController(context.Background())); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(did, ", "); got != "stop backup, stop primary, start primary, start backup" {
		t.Errorf("did %s", got)
	}
}

func TestChoicesAtTheDeadline(t *testing.T) {
	err := &DeadlinePassed{Busy: &StillBusy{Waited: time.Minute, Nodes: []string{"n2", "n1"},
		Jobs: []Job{{ID: "7", State: "R", User: "alice", Nodes: []string{"n1"}, Name: "train"}, {ID: "9_1", State: "S", User: "bob", Nodes: []string{"n1", "n2"}}}}}
	want := []string{
		"wait on: run again, with a longer drainDeadline",
		"requeue the jobs: scontrol requeue 7,9_1",
		"cancel the jobs: scancel 7,9_1",
		"keep the hosts: put n[1-2] back into the environment file as they were",
	}
	if got := strings.Join(err.Choices(), "\n"); got != strings.Join(want, "\n") {
		t.Errorf("choices:\n%s", got)
	}
	if got := err.Error(); got != "n[1-2] still busy after 1m0s: job 7 (train) of alice, R, on n1; job 9_1 () of bob, S, on n[1-2]" {
		t.Errorf("error: %s", got)
	}
	// An epilog may keep a host busy without a job.
	idle := &DeadlinePassed{Busy: &StillBusy{Nodes: []string{"n1"}}}
	if got := len(idle.Choices()); got != 2 {
		t.Errorf("%d choices without a job", got)
	}
}

// TestHeadings checks that a run announces only what it does, and for whom.
func TestHeadings(t *testing.T) {
	always := []string{"Compare the live nodes with the new ones", "Resolve the names of the nodes", "Load the new files on trial",
		"Make what the new files refer to", "Place the files and reload slurmctld", "Check that slurmctld runs with the new files"}
	for name, c := range map[string]struct {
		change Change
		empty  []string
		more   []string
	}{
		"the same nodes": {},
		"a host joins":   {change: Change{Added: []string{"n3"}}, more: []string{"Close the hosts that join: n3"}},
		"hosts leave and change": {
			change: Change{Removed: []string{"n1", "n2"}, Reshaped: []Reshaped{{Name: "n3"}}},
			more:   []string{"Look for jobs and reservations that need the hosts that leave: n[1-2]", "Drain the hosts that leave or change shape: n[1-3]"},
		},
		"partitions go": {empty: []string{"p", "q"}, more: []string{"Wait for the jobs of partitions that go: p, q"}},
	} {
		var got []string
		for _, s := range (&activation{change: c.change, spec: Activation{Empty: c.empty}}).steps() {
			if heading := s.heading(); heading != "" {
				got = append(got, heading)
			}
		}
		want := append(slices.Clone(always), c.more...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestDescribe checks that a job without hosts waits for none.
func TestDescribe(t *testing.T) {
	for want, job := range map[string]Job{
		"job 7 (a) of u, PD, waiting":            {ID: "7", Name: "a", User: "u", State: "PD"},
		"job 7 (a) of u, PD, waiting for n[1-2]": {ID: "7", Name: "a", User: "u", State: "PD", Wanted: []string{"n1", "n2"}},
		"job 7 (a) of u, R, on n1":               {ID: "7", Name: "a", User: "u", State: "R", Nodes: []string{"n1"}, Wanted: []string{"n1"}},
	} {
		if got := job.Describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTitlesAreThePlan(t *testing.T) {
	titles := Titles()
	if len(titles) != len((&activation{}).steps()) || titles[0] != "Compare the live nodes with the new ones" {
		t.Errorf("titles: %q", titles)
	}
}

// TestPausesGrow checks that what is there at once is not waited for, and that
// what takes minutes is not asked for all the time.
func TestPausesGrow(t *testing.T) {
	var pauses, sum time.Duration
	for next := firstPause; next < 2*time.Second; next = longer(next, 2*time.Second) {
		pauses, sum = pauses+1, sum+next
	}
	if firstPause > 300*time.Millisecond || pauses > 8 || sum > 8*time.Second || longer(2*time.Second, 2*time.Second) != 2*time.Second {
		t.Errorf("pauses begin with %s and grow to 2 s in %d steps, %s", firstPause, pauses, sum)
	}
	wait := (&Client{Poll: time.Hour}).pauses()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a wait that is over gives %v", err)
	}
}
