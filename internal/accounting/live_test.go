package accounting_test

import (
	"context"
	"errors"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/accounting"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

type (
	key    = accounting.Key
	entity = accounting.Entity
	set    = map[accounting.Field]string
)

func qos(name string, f set) entity {
	return entity{Key: key{Kind: accounting.KindQOS, Name: name}, Fields: f}
}

func account(name string, f set) entity {
	return entity{Key: key{Kind: accounting.KindAccount, Name: name}, Fields: f}
}

func user(name string, f set) entity {
	return entity{Key: key{Kind: accounting.KindUser, Name: name}, Fields: f}
}

func member(name, account string, f set) entity {
	return entity{Key: key{Kind: accounting.KindAssociation, Name: name, Account: account}, Fields: f}
}

// lab is a declaration that uses every field.
func lab() []entity {
	return []entity{
		qos("urgent", set{"Description": "urgent work, 'now'", "Priority": "100", "Preempt": "cheap,standard", "PreemptMode": "requeue",
			"GraceTime": "90", "UsageFactor": "1.5", "Flags": "NoReserve,DenyOnLimit", "GrpTRES": "gres/gpu=32,cpu=64,mem=102401",
			"MaxTRESPerJob": "gres/gpu=8", "MaxTRESPerUser": "gres/gpu=16", "GrpJobs": "9", "GrpSubmitJobs": "90",
			"MaxJobsPerUser": "3", "MaxWall": "2-00:00:00"}),
		qos("standard", nil),
		qos("cheap", set{"UsageFactor": "0.25", "Preempt": ""}),
		account("pretrain", set{"Parent": "research", "Fairshare": "5"}),
		account("research", set{"Description": "Research | all", "Organization": "Science", "Fairshare": "70", "QOS": "standard,urgent,cheap",
			"DefaultQOS": "standard", "GrpTRES": "gres/gpu:h100=16", "MaxTRESPerJob": "cpu=8", "GrpJobs": "20", "GrpSubmitJobs": "200", "MaxWall": "90"}),
		account("product", set{"Fairshare": "30"}),
		user("alice", set{"DefaultAccount": "research", "AdminLevel": "operator"}),
		user("bob", set{"DefaultAccount": "product"}),
		member("alice", "pretrain", set{"MaxJobs": "4", "MaxSubmitJobs": "40", "GrpTRES": "cpu=4", "MaxTRESPerJob": "gres/gpu=2", "MaxWall": "1-12"}),
		member("alice", "research", set{"Fairshare": "7", "QOS": "cheap,urgent", "DefaultQOS": "cheap"}),
		member("bob", "product", nil),
	}
}

// db is a cluster with its database.
type db struct {
	*slurmtest.Cluster
	ctl *slurmctl.Client
}

func onEachRelease(t *testing.T, run func(t *testing.T, d db)) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short leaves real daemons out")
	}
	var releases []string
	for r := range slurmtest.Releases {
		releases = append(releases, r)
	}
	sort.Strings(releases)
	for _, r := range releases {
		t.Run(r, func(t *testing.T) {
			t.Parallel() // much of the time is waiting
			c := slurmtest.Start(t, r)
			c.Must(t, "useradd -m alice; useradd -m bob; useradd -m carol")
			cluster := slurmtest.Boot(t, c, slurmtest.Conf{Accounting: true,
				Nodes: map[string]string{"n1": slurmtest.GPUNode}})
			run(t, db{cluster, &slurmctl.Client{Runner: cluster, Poll: 200 * time.Millisecond,
				Progress: func(line string) { t.Log(line) }}})
		})
	}
}

func (d db) apply(t *testing.T, entities []entity) (accounting.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return accounting.Apply(ctx, d.ctl, accounting.Desired{Cluster: "test", Entities: entities},
		accounting.Options{Deadline: 2 * time.Second})
}

func (d db) must(t *testing.T, entities []entity) accounting.Result {
	t.Helper()
	r, err := d.apply(t, entities)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOnRealDatabases runs the scenarios one after the other on the database of
// each release; each begins and ends with nothing of ours in it.
func TestOnRealDatabases(t *testing.T) {
	onEachRelease(t, func(t *testing.T, d db) {
		t.Run("the QOS of partitions are there before slurmctld", func(t *testing.T) { qosBeforeController(t, d) })
		t.Run("life of a declaration", func(t *testing.T) { lifeOfADeclaration(t, d) })
		t.Run("a user with a running job is stopped and waited for", func(t *testing.T) { userWithARunningJob(t, d) })
		t.Run("an adopted entity keeps what is not stated", func(t *testing.T) { adoptedEntity(t, d) })
		t.Run("an unknown resource is refused", func(t *testing.T) { unknownResource(t, d) })
	})
}

// qosBeforeController lets slurmctld load a partition that names QOS which did not
// exist, as on a new cluster, and keeps them ours.
func qosBeforeController(t *testing.T, d db) {
	conf := d.Must(t, "cat /etc/slurm/slurm.conf")
	t.Cleanup(func() {
		d.StopController(t)
		d.Write(t, "/etc/slurm/slurm.conf", conf)
		d.StartController(t)
		d.must(t, nil)
	})
	d.StopController(t)
	next := conf + "PartitionName=fast Nodes=ALL QOS=urgent AllowQos=urgent,standard State=UP\n"
	d.Must(t, "rm /etc/slurm/slurm.conf")
	desired := accounting.Desired{Cluster: "test", Entities: []entity{qos("urgent", set{"Priority": "9"}), qos("Standard", nil), qos("normal", nil)}}
	for range 2 {
		if err := accounting.Prepare(context.Background(), d.Cluster, accounting.Keepers{d.Cluster}, "test", []string{"urgent", "Standard", "normal"}, next); err != nil {
			t.Fatal(err)
		}
	}
	d.Write(t, "/etc/slurm/slurm.conf", next)
	d.StartController(t)
	d.must(t, desired.Entities)
	if got := strings.TrimSpace(d.Must(t, "sacctmgr -nP show qos format=Name,Priority")); got != "normal|0\nurgent|9\nstandard|0" {
		t.Errorf("the database has the QOS %q", got)
	}
	if left := d.Must(t, "ls -d /tmp/gpucluster-* 2>/dev/null || true"); left != "" {
		t.Errorf("something is left: %s", left)
	}
}

func lifeOfADeclaration(t *testing.T, d db) {
	// What others made before us.
	d.Must(t, `sacctmgr -i add qos foreign set priority=7
sacctmgr -i add account theirs cluster=test fairshare=3 description=x
sacctmgr -i add user carol cluster=test account=theirs
sacctmgr -i add account research cluster=other 2>/dev/null || true`)
	foreign := `sacctmgr -nP show assoc where account=theirs format=Account,User,Share; sacctmgr -nP show qos where name=foreign,normal format=Name,Priority,Description`
	before := d.Must(t, foreign)

	first := d.must(t, lab())
	if len(first.Done) == 0 {
		t.Fatal("nothing was made")
	}
	second := d.must(t, lab())
	if len(second.Done) != 0 {
		t.Errorf("the second run changed: %q", second.Done)
	}
	want := []string{"account theirs was not made here: left alone", "qos foreign was not made here: left alone",
		"user carol in account theirs was not made here: left alone"}
	if strings.Join(second.Reports, "\n") != strings.Join(want, "\n") {
		t.Errorf("reports are %q, want %q", second.Reports, want)
	}

	// Spot checks with sacctmgr itself.
	for command, want := range map[string]string{
		"sacctmgr -nP show qos where name=urgent format=Priority,GraceTime,MaxTRESPU,MaxWall":   "100|00:01:30|gres/gpu=16|2-00:00:00",
		"sacctmgr -nP show assoc where user=alice account=pretrain wopl format=MaxJobs,GrpTRES": "4|cpu=4",
		"sacctmgr -nP show assoc where account=pretrain user= format=ParentName,Share":          "research|5",
		"sacctmgr -nP show user where name=alice format=DefaultAccount,AdminLevel":              "research|Operator",
	} {
		if got := strings.TrimSpace(d.Must(t, command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if got := strings.TrimSpace(d.Must(t, "stat -c '%a %U' /var/lib/gpucluster/accounting-test.json")); got != "600 root" {
		t.Errorf("the ledger is %s, want 600 root", got)
	}

	// Somebody changes what is ours: it is repaired.
	d.Must(t, "sacctmgr -i modify user where name=bob account=product cluster=test set maxjobs=1 fairshare=99")
	repaired := d.must(t, lab())
	if len(repaired.Done) != 1 || !strings.HasPrefix(repaired.Done[0], "change user bob in account product: ") {
		t.Errorf("the repair did %q", repaired.Done)
	}

	// Fields change and go.
	changed := lab()
	changed[0].Fields = set{"Description": "urgent work, 'now'", "GrpTRES": "gres/gpu=16"}
	changed[4].Fields = set{"Description": "Research | all", "Organization": "Science", "Fairshare": "71"}
	changed[9].Fields = nil
	d.must(t, changed)
	if again := d.must(t, changed); len(again.Done) != 0 {
		t.Errorf("a run after the change did %q", again.Done)
	}

	// Bob, his account and two QOS go.
	fewer := []entity{qos("standard", nil), account("research", nil), user("alice", set{"DefaultAccount": "research"}),
		member("alice", "research", nil)}
	d.must(t, fewer)
	if again := d.must(t, fewer); len(again.Done) != 0 {
		t.Errorf("a run after the removal did %q", again.Done)
	}
	left := d.Must(t, "sacctmgr -nP show assoc where cluster=test format=Account,User; sacctmgr -nP show user format=User; sacctmgr -nP show qos format=Name; sacctmgr -nP show account format=Account")
	for _, gone := range []string{"bob", "product", "pretrain", "urgent", "cheap"} {
		if strings.Contains(left, gone) {
			t.Errorf("%s is still there:\n%s", gone, left)
		}
	}

	// In the end nothing of ours is left, and all of theirs.
	d.must(t, nil)
	left = d.Must(t, "sacctmgr -nP show assoc where cluster=test format=Account,User; sacctmgr -nP show user format=User; sacctmgr -nP show qos format=Name")
	for _, gone := range []string{"alice", "research", "standard"} {
		if strings.Contains(left, gone) {
			t.Errorf("%s is still there:\n%s", gone, left)
		}
	}
	if after := d.Must(t, foreign); after != before {
		t.Errorf("what others made has changed:\n%s\nwas:\n%s", after, before)
	}
}

func userWithARunningJob(t *testing.T, d db) {
	with := []entity{account("research", nil), account("keep", nil), user("alice", nil), user("bob", nil),
		member("alice", "research", nil), member("bob", "keep", nil)}
	without := []entity{account("research", nil), account("keep", nil), user("bob", nil), member("bob", "keep", nil)}
	d.must(t, with)
	submit := "cd /tmp && setpriv --reuid alice --regid alice --init-groups sbatch --parsable -A research -o /dev/null --wrap 'sleep %s'"
	job := strings.TrimSpace(d.Must(t, strings.Replace(submit, "%s", "300", 1)))
	d.WaitJob(t, job, "RUNNING")

	_, err := d.apply(t, without)
	var used *accounting.StillUsed
	if !errors.As(err, &used) {
		t.Fatalf("got error %v, want *StillUsed", err)
	}
	if got := strings.Join(used.Choices(), "\n"); !strings.Contains(got, "scancel "+job) || !strings.Contains(got, "put user alice in account research back") {
		t.Errorf("choices are\n%s", got)
	}
	if s := d.JobState(t, job); s != "RUNNING" {
		t.Errorf("the job is %s", s)
	}
	if _, err := d.Run(context.Background(), strings.Replace(submit, "%s", "1", 1), nil); err == nil {
		t.Error("the user who goes can still submit")
	}

	// Put back: the next run lets the user submit again.
	d.must(t, with)
	d.Until(t, 20*time.Second, strings.Replace(submit, "%s", "0", 1), func(string) bool { return true })

	// Gone for good, once the jobs have ended.
	d.Must(t, "scancel -u alice")
	r := d.must(t, without)
	if len(r.Done) == 0 {
		t.Error("nothing was done")
	}
	if left := d.Must(t, "sacctmgr -nP show assoc where cluster=test format=User; sacctmgr -nP show user format=User"); strings.Contains(left, "alice") {
		t.Errorf("alice is still there:\n%s", left)
	}
	d.must(t, nil)
}

func adoptedEntity(t *testing.T, d db) {
	d.Must(t, `sacctmgr -i delete user name=carol
sacctmgr -i add account shared cluster=test fairshare=3 description=theirs grptres=cpu=5
sacctmgr -i add user carol cluster=test account=shared maxjobs=2`)
	t.Cleanup(func() { d.Must(t, "sacctmgr -i modify qos normal set priority=0") })
	declared := []entity{qos("normal", set{"Priority": "5"}), account("shared", set{"Fairshare": "9"}),
		user("carol", nil), member("carol", "shared", nil), user("bob", nil), member("bob", "shared", nil)}
	r := d.must(t, declared)
	if len(r.Reports) < 3 || !strings.Contains(strings.Join(r.Reports, "\n"), "qos normal existed before") {
		t.Errorf("reports are %q", r.Reports)
	}
	look := "sacctmgr -nP show assoc where cluster=test account=shared wopl format=User,Share,GrpTRES,MaxJobs; sacctmgr -nP show account where name=shared format=Description; sacctmgr -nP show qos where name=normal format=Priority,Description"
	want := "|9|cpu=5|\nbob|1||\ncarol|1||2\ntheirs\n5|Normal QOS default\n"
	if got := d.Must(t, look); got != want {
		t.Errorf("the database has\n%s\nwant\n%s", got, want)
	}
	// No longer declared: only bob's association is ours to remove.
	d.must(t, nil)
	want = "|9|cpu=5|\ncarol|1||2\ntheirs\n5|Normal QOS default\n"
	if got := d.Must(t, look); got != want {
		t.Errorf("in the end the database has\n%s\nwant\n%s", got, want)
	}
}

func unknownResource(t *testing.T, d db) {
	_, err := d.apply(t, []entity{account("research", set{"GrpTRES": "gres/nic=3"})})
	var unknown *accounting.UnknownTRES
	if !errors.As(err, &unknown) || unknown.Names[0] != "gres/nic" {
		t.Fatalf("got error %v, want *UnknownTRES", err)
	}
	if got := d.Must(t, "sacctmgr -nP show account where name=research format=Account; grep -s research /var/lib/gpucluster/accounting-test.json || true"); strings.TrimSpace(got) != "" {
		t.Errorf("something was made: %q", got)
	}
}
