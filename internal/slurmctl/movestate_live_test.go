package slurmctl_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// TestTheStateMovesWithItsJobs gives slurmctld another StateSaveLocation: what
// runs and what waits is known there. A move that fails leaves slurmctld with its
// jobs where it was, and can be made again.
func TestTheStateMovesWithItsJobs(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		runs := l.Submit(t, "-w n1 -t 10", "sleep 600")
		waits := l.Submit(t, "--hold -a 1-3 -t 10", "true")
		l.WaitJob(t, runs, "RUNNING")
		const from, to = "/var/spool/slurmctld", "/srv/slurm state"
		l.Must(t, "install -d -o slurm -g slurm -m 700 '"+to+"'")
		move := func(also string) slurmctl.Activation {
			a := l.activation(l.conf)
			a.Restart, a.State, a.UpLimit = true, slurmctl.StateMove{From: from, To: to}, 5*time.Second
			for i := range a.Files {
				a.Files[i].Content = strings.Replace(a.Files[i].Content, "StateSaveLocation="+from, `StateSaveLocation="`+to+`"`+also, 1)
			}
			return a
		}
		here := func(want string) {
			t.Helper()
			if got := l.Must(t, "scontrol show config | grep StateSaveLocation"); !strings.Contains(got, want) {
				t.Errorf("slurmctld says %s, want %s", got, want)
			}
			for job, state := range map[string]string{runs: "RUNNING", waits: "PENDING"} {
				if s := l.JobState(t, job); s != state {
					t.Errorf("job %s is %s, want %s", job, s, state)
				}
			}
		}

		bad := move("\nNoSuchKey=1")
		bad.SkipTrial = true // so that slurmctld does not start
		if _, err := l.activate(t, bad); err == nil {
			t.Fatal("a bad file was activated")
		}
		here(from)
		if _, err := l.activate(t, move("")); err != nil {
			t.Fatal(err)
		}
		here(to)

		// The state that is left in the old directory is not taken for a copy.
		back := l.activation(l.conf)
		back.Restart, back.State = true, slurmctl.StateMove{From: to, To: from}
		if _, err := l.activate(t, back); err == nil || !strings.Contains(err.Error(), "holds a state already") {
			t.Errorf("got error %v", err)
		}
		here(to)
		if err := l.Ping(context.Background()); err != nil {
			t.Error(err)
		}
	})
}
