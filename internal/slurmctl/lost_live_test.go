package slurmctl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// TestNothingThatNeedsALeavingHostIsLost removes a host that a pending job and
// reservations name: slurmctld would fail the job and delete the reservation
// that holds nothing else.
func TestNothingThatNeedsALeavingHostIsLost(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		one := l.Submit(t, "-w n3 --hold -J later", "true")
		two := l.Submit(t, "-w n2,n3 -N2 --hold -J both", "true")
		other := l.Submit(t, "-x n3 --hold", "true")
		l.Must(t, `scontrol create reservation ReservationName=mine Users=root StartTime=now+2hours Duration=60 Nodes=n3
scontrol create reservation ReservationName=wide Users=root StartTime=now+5hours Duration=60 Nodes=n2,n3`)
		before := l.Must(t, "cat /etc/slurm/*.conf")

		a := l.activation(l.with(func(n map[string]string) { delete(n, "n3") }))
		_, err := l.activate(t, a)
		var lost *slurmctl.Stranded
		if !errors.As(err, &lost) {
			t.Fatalf("got error %v, want *Stranded", err)
		}
		for _, want := range []string{"job " + one + " (later) of root, PD, waiting for n3", "job " + two + " (both)", "reservation mine of n3"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error lacks %q: %v", want, err)
			}
		}
		if strings.Contains(err.Error(), "job "+other+" ") || strings.Contains(err.Error(), "wide") {
			t.Errorf("the error names what is not lost: %v", err)
		}
		if n := l.node(t, "n3"); n.State.Has(slurmctl.FlagDrain) {
			t.Errorf("n3 is %s", n.State)
		}
		if after := l.Must(t, "cat /etc/slurm/*.conf"); after != before {
			t.Error("the files have changed")
		}

		// The choices, as they are written.
		choices := strings.Join(lost.Choices(), "\n")
		for _, choice := range []string{"for job in " + one + " " + two + "; do scontrol update jobid=$job reqnodelist=; done", "scontrol delete reservation=mine"} {
			if !strings.Contains(choices, choice) {
				t.Fatalf("choices lack %q:\n%s", choice, choices)
			}
			l.Must(t, choice)
		}
		got, err := l.activate(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Reservations) != 1 || got.Reservations[0] != "reservation wide held n[2-3]" {
			t.Errorf("reservations that became smaller: %q", got.Reservations)
		}
		for _, job := range []string{one, two, other} {
			if s := l.JobState(t, job); s != "PENDING" {
				t.Errorf("job %s is %s", job, s)
			}
		}
	})
}

// TestAJobThatComesWhileAHostDrainsIsNotLost submits a job for a host that
// leaves while the run waits for that host.
func TestAJobThatComesWhileAHostDrainsIsNotLost(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		job := l.Submit(t, "-w n3 -t 10", "sleep 300")
		l.WaitJob(t, job, "RUNNING")
		late, said := "", *l.Client
		said.Progress = func(line string) {
			if late == "" && strings.HasPrefix(line, "waiting for n3") {
				late = l.Submit(t, "-w n3 -t 10", "true")
				l.Must(t, "scancel "+job)
			}
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := said.Activate(ctx, l.host(), l.activation(l.with(func(n map[string]string) { delete(n, "n3") })))
		var lost *slurmctl.Stranded
		if !errors.As(err, &lost) || len(lost.Jobs) != 1 || lost.Jobs[0].ID != late {
			t.Fatalf("got error %v, want *Stranded about job %s", err, late)
		}
		l.WaitJob(t, late, "COMPLETED")
	})
}

// TestRemovingAPartitionWaitsForItsJobs checks that what runs and what waits in
// a partition that goes ends by itself.
func TestRemovingAPartitionWaitsForItsJobs(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		conf := threeNodes()
		conf.Extra = "PartitionName=side Nodes=n3 MaxTime=60"
		l := start(t, release, conf)
		runs := l.Submit(t, "-p side --exclusive -t 10", "sleep 3")
		l.WaitJob(t, runs, "RUNNING")
		waits := l.Submit(t, "-p side --exclusive -t 10", "sleep 1")

		// The partition goes together with its host.
		conf = l.with(func(n map[string]string) { delete(n, "n3") })
		conf.Extra = ""
		a := l.activation(conf)
		a.Empty = []string{"side", "never-known"}
		if _, err := l.activate(t, a); err != nil {
			t.Fatal(err)
		}
		for _, job := range []string{runs, waits} {
			if s := l.JobState(t, job); s != "COMPLETED" {
				t.Errorf("job %s is %s, want it to have ended by itself", job, s)
			}
		}
		if got := strings.TrimSpace(l.Must(t, "sinfo -h -o %R; ls "+slurmctl.RetiringPath+" 2>/dev/null || true")); got != "main" {
			t.Errorf("left are %q, want main alone", got)
		}
	})
}

// TestAPartitionWithJobsAtTheDeadline checks that nothing has changed then, that
// the choices work, and that a run that was killed leaves nothing closed.
func TestAPartitionWithJobsAtTheDeadline(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		conf := threeNodes()
		conf.Extra = "PartitionName=side Nodes=n3 MaxTime=60\nPartitionName=shut Nodes=n2 State=DOWN"
		l := start(t, release, conf)
		held := l.Submit(t, "-p side --hold -t 10 -J held", "true")
		several := l.Submit(t, "-p main,side --hold -t 10 -J several", "true")
		states := func() string {
			out := l.Must(t, "scontrol -o show partition | sed 's/PartitionName=\\([^ ]*\\).* State=\\([^ ]*\\).*/\\1 \\2/' | sort")
			return strings.Join(strings.Fields(out), " ")
		}
		before := states()
		if before != "main UP shut DOWN side UP" {
			t.Fatalf("partitions are %s", before)
		}
		l.conf.Extra = ""
		a := l.activation(l.conf)
		a.Empty, a.DrainDeadline = []string{"side", "shut"}, time.Second
		_, err := l.activate(t, a)
		var late *slurmctl.StillQueued
		if !errors.As(err, &late) {
			t.Fatalf("got error %v, want *StillQueued", err)
		}
		if !strings.Contains(err.Error(), "job "+held+" (held)") || !strings.Contains(err.Error(), "job "+several+" (several)") {
			t.Errorf("the error does not list the jobs: %v", err)
		}
		if after := states(); after != before {
			t.Errorf("partitions are %s, were %s", after, before)
		}

		// What a run that was killed leaves closed, the next one opens.
		ctx := context.Background()
		if err := l.Retire(ctx, []string{"side", "shut"}); err != nil {
			t.Fatal(err)
		}
		left, err := l.Retiring(ctx)
		if got := states(); got != "main UP shut INACTIVE side DRAIN" || err != nil || strings.Join(left, ",") != "side,shut" {
			t.Errorf("retired partitions are %s, noted %v (%v)", got, left, err)
		}
		again := l.activation(conf)
		if _, err := l.activate(t, again); err != nil {
			t.Fatal(err)
		}
		if after := states(); after != before {
			t.Errorf("partitions are %s after the next run, were %s", after, before)
		}

		move := "for job in " + held + " " + several + "; do scontrol update jobid=$job partition="
		if !strings.Contains(strings.Join(late.Choices(), "\n"), move+"...; done") {
			t.Errorf("choices lack %q: %q", move, late.Choices())
		}
		// 26.05 may ask to try again while it schedules.
		l.Until(t, 20*time.Second, move+"main || exit 1; done", func(string) bool { return true })
		if _, err := l.activate(t, a); err != nil {
			t.Fatal(err)
		}
		for _, job := range []string{held, several} {
			if s := l.JobState(t, job); s != "PENDING" {
				t.Errorf("job %s is %s", job, s)
			}
		}
	})
}

// TestRemovalOfAPartitionNeedsAController checks that a partition does not go
// while nobody can tell of its jobs.
func TestRemovalOfAPartitionNeedsAController(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		l.StopController(t)
		a := l.activation(l.conf)
		a.Empty = []string{"side"}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := l.Client.Activate(ctx, slurmctl.Shell{Runner: l.Cluster, Start: "exit 1", Stop: "true"}, a)
		if !errors.Is(err, slurmctl.ErrDown) || !strings.Contains(err.Error(), "the jobs of partition side cannot be waited for") {
			t.Errorf("got error %v", err)
		}
	})
}

// TestANodeThatChangesWhereOnlyTheFilesTell drains for a change that the live
// nodes do not show, such as other device files.
func TestANodeThatChangesWhereOnlyTheFilesTell(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		ends := l.Submit(t, "-w n2 -t 10", "sleep 3")
		stays := l.Submit(t, "-w n1 -t 10", "sleep 300")
		l.WaitJob(t, ends, "RUNNING")
		l.WaitJob(t, stays, "RUNNING")
		a := l.activation(l.conf)
		a.Reshape = map[string][]string{"n2": {"GPUs"}}
		got, err := l.activate(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Change.Reshaped) != 1 || got.Change.Reshaped[0].Name != "n2" {
			t.Errorf("reshaped %v", got.Change.Reshaped)
		}
		for job, want := range map[string]string{ends: "COMPLETED", stays: "RUNNING"} {
			if s := l.JobState(t, job); s != want {
				t.Errorf("job %s is %s, want %s", job, s, want)
			}
		}
		if n := l.node(t, "n2"); !n.State.Has(slurmctl.FlagDrain) || !strings.HasPrefix(n.Reason, slurmctl.ReasonReshape) {
			t.Errorf("n2 is %s (%s), want it drained for its own step", n.State, n.Reason)
		}
	})
}
