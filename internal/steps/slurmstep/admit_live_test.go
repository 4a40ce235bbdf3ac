package slurmstep

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// TestAdmit brings hosts of real daemons into work, in each state that a run
// may find them in.
func TestAdmit(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves real daemons out")
	}
	for release := range slurmtest.Releases {
		t.Run(release, func(t *testing.T) {
			t.Parallel()
			c := slurmtest.StartCluster(t, release, slurmtest.Conf{Nodes: map[string]string{"n1": slurmtest.GPUNode, "n2": slurmtest.GPUNode}})
			ctl := &slurmctl.Client{Runner: c, Poll: 200 * time.Millisecond}
			on := func(host string) member {
				return member{spec: MemberSpec{Host: host, Gres: "gpu:h100:8"}, ctl: ctl, in: step.NewInput(nil, nil, io.Discard)}
			}
			// bring does what a run does, without the playbook.
			bring := func(t *testing.T, host, between string) string {
				t.Helper()
				m := on(host)
				was, err := m.standing(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if !was.usable {
					if err := ctl.Close(t.Context(), []string{host}); err != nil {
						t.Fatal(err)
					}
				}
				if between != "" {
					c.StartNodes(t, between)
				}
				detail, err := m.admit(t.Context(), was)
				if err != nil {
					t.Fatal(err)
				}
				return detail
			}
			stands := func(t *testing.T, host string, wantClosed bool, wantReason string) {
				t.Helper()
				closed, err := ctl.Closed(t.Context(), []string{host})
				if err != nil || len(closed) > 0 != wantClosed {
					t.Errorf("%s is closed: %v, want %v (%v)", host, len(closed) > 0, wantClosed, err)
				}
				nodes, err := ctl.NodesNamed(t.Context(), []string{host})
				if err != nil {
					t.Fatal(err)
				}
				if n := nodes[0]; n.State.Usable() != (wantReason == "") || wantReason != "" && n.Reason != wantReason {
					t.Errorf("%s is %s: %q, want the reason %q", host, n.State, n.Reason, wantReason)
				}
			}

			t.Run("a host that joins", func(t *testing.T) {
				if err := ctl.Close(t.Context(), []string{"n2"}); err != nil {
					t.Fatal(err)
				}
				if got := bring(t, "n2", ""); got != "validation job passed on gpu:h100:8" {
					t.Errorf("it says %q", got)
				}
				stands(t, "n2", false, "")
			})
			t.Run("a person holds an open host", func(t *testing.T) {
				c.Must(t, "scontrol update NodeName=n2 State=DRAIN Reason='fan broken'")
				if got := bring(t, "n2", ""); got != "held by root: fan broken" {
					t.Errorf("it says %q", got)
				}
				stands(t, "n2", false, "fan broken")
				c.Must(t, "scontrol update NodeName=n2 State=RESUME")
				c.WaitJob(t, c.Submit(t, "-w n2 --gres=gpu:8", "true"), "COMPLETED")
			})
			t.Run("a person holds a host that joins", func(t *testing.T) {
				if err := ctl.Close(t.Context(), []string{"n2"}); err != nil {
					t.Fatal(err)
				}
				c.Must(t, "scontrol update NodeName=n2 State=DRAIN Reason='fan broken'")
				if got := bring(t, "n2", ""); !strings.HasPrefix(got, "held by root: fan broken; it is checked") {
					t.Errorf("it says %q", got)
				}
				stands(t, "n2", true, "fan broken")
				c.Must(t, "scontrol update NodeName=n2 State=RESUME")
				bring(t, "n2", "")
				stands(t, "n2", false, "")
			})
			t.Run("a busy host that lost contact", func(t *testing.T) {
				job := c.Submit(t, "-w n1 --gres=gpu:8", "sleep 300")
				c.WaitJob(t, job, "RUNNING")
				c.StopNodes(t, "n1")
				c.Until(t, 2*time.Minute, "scontrol -o show node n1; scontrol ping >/dev/null; scontrol update NodeName=n1 State=NoResp 2>/dev/null; true", func(out string) bool {
					return strings.Contains(out, "NOT_RESPONDING") || strings.Contains(out, "*")
				})
				begin := time.Now()
				bring(t, "n1", "n1")
				if took := time.Since(begin); took > time.Minute {
					t.Errorf("took %s, as if it had waited for the job", took)
				}
				stands(t, "n1", false, "")
				if state := c.JobState(t, job); state != "RUNNING" {
					t.Errorf("the job is %s", state)
				}
			})
		})
	}
}
