package slurmctl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

// TestAFailedPlacementLeavesTheLastGeneration activates a second generation of
// files, and then cuts the placing of a third at each point: the second stays in
// use, with the jobs on the node that it brought.
func TestAFailedPlacementLeavesTheLastGeneration(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		l.conf = l.with(func(n map[string]string) { n["n4"] = slurmtest.GPUNode })
		if _, err := l.activate(t, l.activation(l.conf)); err != nil {
			t.Fatal(err)
		}
		if release == "22.05" {
			l.restartNodes(t, "n1", "n2", "n3")
		}
		l.StartNodes(t, "n4")
		if err := l.Open(context.Background(), []string{"n4"}); err != nil {
			t.Fatal(err)
		}
		l.WaitIdle(t, "n4")
		job := l.Submit(t, "-w n4 -t 10", "sleep 600")
		l.WaitJob(t, job, "RUNNING")
		before := l.Must(t, "cd /etc/slurm && ls -A && cat *.conf")

		third := l.with(func(n map[string]string) { n["n5"] = slurmtest.GPUNode })
		for name, cut := range map[string]func(script string) string{
			"before it began":            func(string) string { return "" },
			"before the files are there": func(s string) string { s, _, _ = strings.Cut(s, "tar -x"); return s },
			"before the second names":    func(s string) string { s, _, _ = strings.Cut(s, "if [ -e"); return s },
			"before the first file":      func(s string) string { s, _, _ = strings.Cut(s, "mv -f"); return s },
			"after the first file": func(s string) string {
				head, rest, _ := strings.Cut(s, "mv -f")
				first, _, _ := strings.Cut(rest, "mv -f")
				return head + "mv -f" + first
			},
			"at its end": func(s string) string { return s },
		} {
			broken := *l.Client
			done := false
			broken.Runner = shell.RunnerFunc(func(ctx context.Context, command string, stdin []byte) ([]byte, error) {
				if done || !strings.Contains(command, "tar -x -P") {
					return l.Cluster.Run(ctx, command, stdin)
				}
				done = true
				if script := cut(command); script != "" {
					if out, err := l.Cluster.Run(ctx, script, stdin); err != nil {
						return out, err
					}
				}
				return nil, errors.New("connection closed")
			})
			host := slurmctl.Shell{Runner: broken.Runner, Start: slurmtest.ControllerCommand, Stop: slurmtest.StopControllerCommand}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			_, err := broken.Activate(ctx, host, l.activation(third))
			cancel()
			if !done || err == nil || !strings.Contains(err.Error(), "connection closed") || strings.Contains(err.Error(), "previous files") {
				t.Fatalf("cut %s: done %v, error %v", name, done, err)
			}
			if after := l.Must(t, "cd /etc/slurm && ls -A && cat *.conf"); after != before {
				t.Errorf("cut %s: files are\n%s\nwant\n%s", name, after, before)
			}
			nodes, err := l.Nodes(context.Background())
			if err != nil || len(nodes) != 4 {
				t.Errorf("cut %s: %d nodes (%v), want 4", name, len(nodes), err)
			}
			if s := l.JobState(t, job); s != "RUNNING" {
				t.Fatalf("cut %s: the job on n4 is %s", name, s)
			}
		}
	})
}
