package slurmctl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

func TestAddingANodeLeavesARunningJobAlone(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		job := l.Submit(t, "-w n1 --gres=gpu:h100:2 -t 10", "sleep 300")
		l.WaitJob(t, job, "RUNNING")
		// A user's job that waits for the host that joins.
		l.Must(t, "useradd -m alice 2>/dev/null || true")

		conf := l.with(func(n map[string]string) { n["n4"] = slurmtest.GPUNode })
		got, err := l.activate(t, l.activation(conf))
		if err != nil {
			t.Fatal(err)
		}
		wantReload := "reconfigure"
		if release == "22.05" {
			wantReload = "restart"
		}
		if got.Reload != wantReload || got.Change.String() != "new n4" {
			t.Errorf("activated %q by %s, want \"new n4\" by %s", got.Change, got.Reload, wantReload)
		}
		if s := l.JobState(t, job); s != "RUNNING" {
			t.Errorf("the job is %s after a node was added", s)
		}

		other := strings.TrimSpace(l.Must(t, "cd /tmp && setpriv --reuid alice --regid alice --init-groups sbatch --parsable -w n4 -o /dev/null --wrap 'sleep 1'"))
		if release == "22.05" {
			l.restartNodes(t, "n1", "n2", "n3")
		}
		l.StartNodes(t, "n4")
		seen, err := l.Validate(context.Background(), slurmctl.Validation{
			Node: "n4", GPUs: []slurmctl.Gres{{Name: "gpu", Type: "h100", Count: 8}}, ReadyLimit: 30 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(seen.Devices, ","); got != "0,1,2,3,4,5,6,7" || seen.Node != "n4" {
			t.Errorf("the validation job saw %q on %s", got, seen.Node)
		}
		time.Sleep(3 * time.Second) // a scheduling cycle, in which the other job must not start
		if s := l.JobState(t, other); s != "PENDING" {
			t.Errorf("a user's job is %s on a closed node", s)
		}
		if err := l.Open(context.Background(), []string{"n4"}); err != nil {
			t.Fatal(err)
		}
		l.WaitJob(t, other, "COMPLETED")
		if s := l.JobState(t, job); s != "RUNNING" {
			t.Errorf("the job is %s at the end", s)
		}
	})
}

func TestRemovingANodeWaitsForItsJob(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		job := l.Submit(t, "-w n3 -t 10", "sleep 4")
		l.WaitJob(t, job, "RUNNING")
		conf := l.with(func(n map[string]string) { delete(n, "n3") })
		got, err := l.activate(t, l.activation(conf))
		if err != nil {
			t.Fatal(err)
		}
		if got.Change.String() != "without n3" {
			t.Errorf("activated %q", got.Change)
		}
		if s := l.JobState(t, job); s != "COMPLETED" {
			t.Errorf("the job is %s, want it to have ended by itself", s)
		}
		nodes, err := l.Nodes(context.Background())
		if err != nil || len(nodes) != 2 {
			t.Errorf("%d nodes are left (%v), want 2", len(nodes), err)
		}
	})
}

func TestDeadlineChangesNothing(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		job := l.Submit(t, "-w n3 -t 10 -J long", "sleep 300")
		l.WaitJob(t, job, "RUNNING")
		before := l.Must(t, "cat /etc/slurm/*.conf")
		l.Must(t, "scontrol update NodeName=n2 State=DRAIN Reason='fan broken'")

		a := l.activation(l.with(func(n map[string]string) { delete(n, "n2"); delete(n, "n3") }))
		a.DrainDeadline = time.Second
		_, err := l.activate(t, a)
		var late *slurmctl.DeadlinePassed
		if !errors.As(err, &late) {
			t.Fatalf("got error %v, want *DeadlinePassed", err)
		}
		choices := strings.Join(late.Choices(), "\n")
		for _, want := range []string{"drainDeadline", "scontrol requeue " + job, "scancel " + job, "put n3 back"} {
			if !strings.Contains(choices, want) {
				t.Errorf("choices lack %q:\n%s", want, choices)
			}
		}
		if !strings.Contains(err.Error(), "job "+job+" (long) of root, R, on n3") {
			t.Errorf("the error does not list the job: %v", err)
		}
		if s := l.JobState(t, job); s != "RUNNING" {
			t.Errorf("the job is %s", s)
		}
		if n := l.node(t, "n3"); n.State.Has(slurmctl.FlagDrain) {
			t.Errorf("n3 is still %s: %s", n.State, n.Reason)
		}
		if n := l.node(t, "n2"); !n.State.Has(slurmctl.FlagDrain) || n.Reason != "fan broken" {
			t.Errorf("the drain of somebody else became %s: %q", n.State, n.Reason)
		}
		if after := l.Must(t, "cat /etc/slurm/*.conf"); after != before {
			t.Error("the files have changed")
		}
	})
}

func TestReshapingANodeAbortsNoJob(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		ends := l.Submit(t, "-w n2 --gres=gpu:h100:8 -t 10", "sleep 4")
		stays := l.Submit(t, "-w n1 -t 10", "sleep 300")
		l.WaitJob(t, ends, "RUNNING")
		l.WaitJob(t, stays, "RUNNING")

		conf := l.with(func(n map[string]string) { n["n2"] = strings.Replace(n["n2"], "h100:8", "h100:4", 1) })
		got, err := l.activate(t, l.activation(conf))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Change.Reshaped) != 1 || got.Change.Reshaped[0].What[0] != "Gres gpu:h100:8 -> gpu:h100:4" {
			t.Errorf("reshaped %v", got.Change.Reshaped)
		}
		for job, want := range map[string]string{ends: "COMPLETED", stays: "RUNNING"} {
			if s := l.JobState(t, job); s != want {
				t.Errorf("job %s is %s, want %s", job, s, want)
			}
		}
		n := l.node(t, "n2")
		if !n.State.Has(slurmctl.FlagDrain) || !strings.HasPrefix(n.Reason, slurmctl.ReasonReshape) {
			t.Errorf("n2 is %s (%s), want it drained for its own step", n.State, n.Reason)
		}
		// What the host's own step does.
		ctx := context.Background()
		if err := l.Close(ctx, []string{"n2"}); err != nil {
			t.Fatal(err)
		}
		l.restartNodes(t, "n1", "n2", "n3")
		seen, err := l.Validate(ctx, slurmctl.Validation{Node: "n2", GPUs: []slurmctl.Gres{{Name: "gpu", Type: "h100", Count: 4}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(seen.Devices) != 4 {
			t.Errorf("the validation job saw %v", seen.Devices)
		}
		if err := l.Open(ctx, []string{"n2"}); err != nil {
			t.Fatal(err)
		}
		if s := l.JobState(t, stays); s != "RUNNING" {
			t.Errorf("job %s on another node is %s at the end", stays, s)
		}
	})
}

func TestRefusedBeforeAnythingChanges(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		before := l.Must(t, "cat /etc/slurm/*.conf; scontrol -o show node | sed 's/ FreeMem=.*//; s/CPULoad=[^ ]*//'")

		t.Run("unknown key", func(t *testing.T) {
			conf := l.conf
			conf.Extra = "NoSuchKey=1"
			a := l.activation(conf)
			a.Prepare = func(context.Context) error {
				t.Error("what the new files refer to was made before they were judged")
				return nil
			}
			_, err := l.activate(t, a)
			var refused *slurmctl.TrialFailed
			if !errors.As(err, &refused) {
				t.Fatalf("got error %v, want *TrialFailed", err)
			}
			if !strings.Contains(err.Error(), "NoSuchKey") {
				t.Errorf("the error does not name the key: %v", err)
			}
		})
		t.Run("partition of unknown nodes", func(t *testing.T) {
			conf := l.conf
			conf.Extra = "PartitionName=ghost Nodes=ghost1"
			_, err := l.activate(t, l.activation(conf))
			var refused *slurmctl.TrialFailed
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), "ghost") {
				t.Fatalf("got error %v, want *TrialFailed about ghost1", err)
			}
		})
		t.Run("name that does not resolve", func(t *testing.T) {
			conf := l.with(func(n map[string]string) { n["far1"] = slurmtest.GPUNode; n["far2"] = slurmtest.GPUNode })
			conf.Unresolved = map[string]bool{"far1": true, "far2": true}
			_, err := l.activate(t, l.activation(conf))
			var unresolved *slurmctl.Unresolved
			if !errors.As(err, &unresolved) || strings.Join(unresolved.Names, ",") != "far1,far2" {
				t.Fatalf("got error %v, want *Unresolved for far1 and far2", err)
			}
		})
		if after := l.Must(t, "cat /etc/slurm/*.conf; scontrol -o show node | sed 's/ FreeMem=.*//; s/CPULoad=[^ ]*//'"); after != before {
			t.Errorf("something has changed:\n%s\nwas:\n%s", after, before)
		}
		if left := l.Must(t, "ls -d /tmp/gpucluster-trial.* 2>/dev/null; pgrep -c -x slurmctld"); strings.TrimSpace(left) != "1" {
			t.Errorf("the trial left something: %q", left)
		}
	})
}

func TestRollbackWhenTheNewFilesDoNotComeIntoUse(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		job := l.Submit(t, "-w n1 -t 10", "sleep 300")
		l.WaitJob(t, job, "RUNNING")
		before := l.Must(t, "cat /etc/slurm/*.conf")
		conf := l.conf
		conf.Extra = "NoSuchKey=1"
		a := l.activation(conf)
		a.SkipTrial = true // so that the bad file reaches the daemon
		a.UpLimit = 5 * time.Second
		if _, err := l.activate(t, a); err == nil {
			t.Fatal("a bad file was activated")
		} else {
			t.Log(err)
		}
		if after := l.Must(t, "cat /etc/slurm/*.conf"); after != before {
			t.Error("the previous files are not back")
		}
		if err := l.WaitUp(context.Background(), 10*time.Second); err != nil {
			t.Error(err)
		}
		if s := l.JobState(t, job); s != "RUNNING" {
			t.Errorf("the job is %s", s)
		}
	})
}
