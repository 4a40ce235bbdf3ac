package slurmctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

func TestFirstActivationClosesEveryHost(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		s := slurmtest.Start(t, release)
		l := &live{Cluster: &slurmtest.Cluster{Sandbox: s}, conf: threeNodes(),
			Client: &slurmctl.Client{Runner: s, Poll: 200 * time.Millisecond, Progress: func(line string) { t.Log(line) }}}
		l.StartMunge(t)
		l.Must(t, "rm -rf /etc/slurm")
		a := l.activation(l.conf)
		a.Applied = nil
		prepared := false
		a.Prepare = func(context.Context) error { prepared = true; return nil }
		got, err := l.activate(t, a)
		if err != nil {
			t.Fatal(err)
		}
		if got.Reload != "start" || got.Change.String() != "new n[1-3]" || !prepared {
			t.Errorf("activated %q by %s, prepared %v", got.Change, got.Reload, prepared)
		}
		closed, err := l.Closed(context.Background(), []string{"n1", "n2", "n3"})
		if err != nil || len(closed) != 3 {
			t.Errorf("closed are %v (%v)", closed, err)
		}

		// The same again: nothing to close, nothing to drain, the files as they are.
		again, err := l.activate(t, l.activation(l.conf))
		if err != nil || !again.Change.Empty() {
			t.Errorf("a second activation did %q (%v)", again.Change, err)
		}
	})
}

func TestACrashedControllerIsStartedFirst(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		job := l.Submit(t, "-w n3 -t 10", "sleep 40")
		l.WaitJob(t, job, "RUNNING")
		time.Sleep(12 * time.Second) // slurmctld saves the state of jobs now and then
		l.Must(t, "kill -9 $(cat /run/slurmctld.pid)")
		conf := l.with(func(n map[string]string) { delete(n, "n3"); n["n4"] = slurmtest.GPUNode })
		got, err := l.activate(t, l.activation(conf))
		if err != nil {
			t.Fatal(err)
		}
		if got.Change.String() != "new n4, without n3" {
			t.Errorf("activated %q", got.Change)
		}
		if s := l.JobState(t, job); s != "COMPLETED" {
			t.Errorf("the job is %s, want it to have ended by itself", s)
		}
	})
}

func TestRemovalNeedsAController(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		l.StopController(t)
		host := slurmctl.Shell{Runner: l.Cluster, Start: "exit 1", Stop: "true"}
		a := l.activation(l.with(func(n map[string]string) { delete(n, "n3") }))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		before := l.Must(t, "cat /etc/slurm/*.conf")
		_, err := l.Client.Activate(ctx, host, a)
		if !errors.Is(err, slurmctl.ErrDown) || !strings.Contains(err.Error(), "the jobs on n3 cannot be waited for") {
			t.Errorf("got error %v", err)
		}
		if after := l.Must(t, "cat /etc/slurm/*.conf"); after != before {
			t.Error("the files have changed")
		}
	})
}

// TestInterruptedAndRunAgain stops a run at each step that changes something, as
// a cut connection or an interrupt would, and runs it again.
func TestInterruptedAndRunAgain(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		stays := l.Submit(t, "-w n1 -t 10", "sleep 600")
		l.WaitJob(t, stays, "RUNNING")
		conf := l.with(func(n map[string]string) { delete(n, "n3"); n["n4"] = slurmtest.GPUNode })
		reload := "scontrol reconfigure"
		if release == "22.05" {
			reload = "slurmctld </dev/null" // it is started again
		}
		for _, at := range []string{"scontrol create reservation", reload, "mv -f", "State=DRAIN"} {
			broken := *l.Client
			cut := false
			broken.Runner = shell.RunnerFunc(func(ctx context.Context, command string, stdin []byte) ([]byte, error) {
				if !cut && strings.Contains(command, at) {
					cut = true
					return nil, errors.New("connection closed")
				}
				return l.Cluster.Run(ctx, command, stdin)
			})
			host := slurmctl.Shell{Runner: broken.Runner, Start: slurmtest.ControllerCommand, Stop: slurmtest.StopControllerCommand}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			_, err := broken.Activate(ctx, host, l.activation(conf))
			cancel()
			if !cut || err == nil {
				t.Fatalf("cut at %q: %v, error %v", at, cut, err)
			}
			nodes, err := l.Nodes(context.Background())
			if err != nil {
				t.Fatalf("cut at %q: %v", at, err)
			}
			var names []string
			for _, n := range nodes {
				names = append(names, n.Name)
				if n.State.Has(slurmctl.FlagDrain) {
					t.Errorf("cut at %q: %s is left %s", at, n.Name, n.State)
				}
			}
			if got := strings.Join(names, ","); got != "n1,n2,n3" {
				t.Errorf("cut at %q: the nodes are %s", at, got)
			}
		}
		got, err := l.activate(t, l.activation(conf))
		if err != nil || got.Change.String() != "new n4, without n3" {
			t.Errorf("run again: %q, %v", got.Change, err)
		}
		if s := l.JobState(t, stays); s != "RUNNING" {
			t.Errorf("the job is %s", s)
		}
	})
}

func TestFullDiskChangesNothing(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		l.Must(t, "cp -a /etc/slurm /etc/slurm.all && mount -t tmpfs -o size=96k tmpfs /etc/slurm && cp -a /etc/slurm.all/. /etc/slurm/")
		before := l.Must(t, "cd /etc/slurm && ls -A && cat *.conf")
		a := l.activation(l.conf)
		a.Files = append(a.Files, slurmctl.File{Path: "/etc/slurm/zz.conf", Content: strings.Repeat("#\n", 100_000)})
		_, err := l.activate(t, a)
		if err == nil || !strings.Contains(err.Error(), "100% /etc/slurm") {
			t.Errorf("got error %v", err)
		}
		if after := l.Must(t, "cd /etc/slurm && ls -A && cat *.conf"); after != before {
			t.Errorf("something has changed:\n%s\nwas:\n%s", after, before)
		}
		if err := l.Ping(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// TestGoldenSetsPassTheTrial loads the renderer's golden file sets the way that an
// activation does, on a controller that has neither their database nor their hosts.
func TestGoldenSetsPassTheTrial(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		s := slurmtest.Start(t, release)
		c := &slurmtest.Cluster{Sandbox: s}
		c.StartMunge(t)
		client := &slurmctl.Client{Runner: s}
		sets, err := filepath.Glob("../slurmconf/testdata/golden/" + release + "/*")
		if err != nil || len(sets) == 0 {
			t.Fatalf("no golden sets: %v", err)
		}
		for _, set := range sets {
			t.Run(filepath.Base(set), func(t *testing.T) {
				paths, _ := filepath.Glob(set + "/*")
				var files []slurmctl.File
				var names []slurmctl.NodeSpec
				for _, p := range paths {
					content, err := os.ReadFile(p)
					if err != nil {
						t.Fatal(err)
					}
					files = append(files, slurmctl.File{Path: "/etc/slurm/" + filepath.Base(p), Content: string(content)})
					names = append(names, nodesOf(t, string(content))...)
				}
				warnings, err := client.Trial(context.Background(), files, names, "")
				if err != nil {
					t.Fatal(err)
				}
				for _, w := range warnings {
					t.Logf("warning: %s", w)
				}
			})
		}
	})
}

// nodesOf reads the names of the NodeName lines of a slurm.conf.
func nodesOf(t *testing.T, conf string) []slurmctl.NodeSpec {
	t.Helper()
	var specs []slurmctl.NodeSpec
	for _, line := range strings.Split(conf, "\n") {
		if rest, ok := strings.CutPrefix(line, "NodeName="); ok && !strings.HasPrefix(rest, "DEFAULT") {
			expr, _, _ := strings.Cut(rest, " ")
			for _, n := range expandAll(t, expr) {
				specs = append(specs, slurmctl.NodeSpec{Name: n})
			}
		}
	}
	return specs
}

func expandAll(t *testing.T, expr string) []string {
	t.Helper()
	names, err := hostlist.Expand(expr)
	if err != nil {
		t.Fatal(err)
	}
	return names
}
