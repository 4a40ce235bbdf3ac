package slurmctl_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

func h100(n int64) []slurmctl.Gres { return []slurmctl.Gres{{Name: "gpu", Type: "h100", Count: n}} }

func TestDrainsHaveOwners(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		ctx := context.Background()
		all := []string{"n1", "n2", "n3"}
		l.Must(t, `scontrol update NodeName=n1 State=DRAIN Reason='fan broken; before: lunch'
scontrol update NodeName=n2 State=DOWN Reason='disk died'`)

		d, err := l.Drain(ctx, all, slurmctl.ReasonLeave)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(d.Ours, ",") != "n2,n3" || d.Kept["n1"] != "fan broken; before: lunch" {
			t.Errorf("drained %v, kept %v", d.Ours, d.Kept)
		}
		again, err := l.Drain(ctx, all, slurmctl.ReasonLeave)
		if err != nil || strings.Join(again.Ours, ",") != "n2,n3" {
			t.Errorf("a second drain counts %v as ours (%v)", again.Ours, err)
		}
		if n := l.node(t, "n2"); n.Reason != slurmctl.ReasonLeave+"; before: disk died" {
			t.Errorf("the reason of a node that was down is %q", n.Reason)
		}
		// Slurm appends to reasons, and so may people.
		l.Must(t, "scontrol update NodeName=n3 Reason='"+slurmctl.ReasonLeave+", Low RealMemory'")

		lifted, err := l.Undrain(ctx, all, slurmctl.ReasonLeave)
		if err != nil || strings.Join(lifted, ",") != "n2,n3" {
			t.Fatalf("lifted %v (%v)", lifted, err)
		}
		for name, want := range map[string]struct {
			drained bool
			base    string
			reason  string
		}{
			"n1": {true, "IDLE", "fan broken; before: lunch"},
			"n2": {false, "DOWN", "disk died"},
			"n3": {false, "IDLE", ""},
		} {
			n := l.node(t, name)
			reason := n.Reason
			if want.reason == "" && strings.HasPrefix(reason, slurmctl.ReasonPrefix) {
				reason = "" // 24.11 keeps the reason of a drain that was lifted
			}
			if n.State.Has(slurmctl.FlagDrain) != want.drained || n.State.Base != want.base || reason != want.reason {
				t.Errorf("%s is %s: %q; want drained %v, %s: %q", name, n.State, n.Reason, want.drained, want.base, want.reason)
			}
		}
		var unknown *slurmctl.UnknownNodes
		if _, err := l.Drain(ctx, []string{"n1", "n9"}, slurmctl.ReasonLeave); !errors.As(err, &unknown) || unknown.Names[0] != "n9" {
			t.Errorf("draining an unknown node: %v", err)
		}
		if _, err := l.Drain(ctx, all, "because"); err == nil {
			t.Error("a drain for somebody else's reason was accepted")
		}
	})
}

func TestValidationRespectsPeopleAndHealsSlurm(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		ctx := context.Background()
		if err := l.Close(ctx, []string{"n1", "n2", "n3"}); err != nil {
			t.Fatal(err)
		}
		if err := l.Close(ctx, []string{"n1", "n2"}); err != nil {
			t.Errorf("closing what is closed: %v", err)
		}
		closed, err := l.Closed(ctx, []string{"n1", "n2", "n9"})
		if err != nil || strings.Join(closed, ",") != "n1,n2" {
			t.Errorf("closed are %v (%v)", closed, err)
		}

		t.Run("a drain of somebody else holds", func(t *testing.T) {
			l.Must(t, "scontrol update NodeName=n1 State=DRAIN Reason='fan broken'")
			_, err := l.Validate(ctx, slurmctl.Validation{Node: "n1", GPUs: h100(8), ReadyLimit: 5 * time.Second})
			var held *slurmctl.Held
			if !errors.As(err, &held) || held.Reason != "fan broken" || held.User != "root" {
				t.Fatalf("got error %v, want *Held", err)
			}
			if n := l.node(t, "n1"); n.Reason != "fan broken" || !n.State.Has(slurmctl.FlagDrain) {
				t.Errorf("n1 is %s: %q", n.State, n.Reason)
			}
		})
		t.Run("a quarantine of ours is tried again", func(t *testing.T) {
			if err := l.Quarantine(ctx, "n2", "nvidia-smi lists\n7 GPUs"); err != nil {
				t.Fatal(err)
			}
			if n := l.node(t, "n2"); n.Reason != "gpucluster: quarantined: nvidia-smi lists 7 GPUs" {
				t.Errorf("the reason is %q", n.Reason)
			}
			if _, err := l.Validate(ctx, slurmctl.Validation{Node: "n2", GPUs: h100(8), ReadyLimit: 20 * time.Second}); err != nil {
				t.Error(err)
			}
		})
		t.Run("a node that Slurm set down is resumed once it answers", func(t *testing.T) {
			l.StopNodes(t, "n3")
			l.Must(t, "setpriv --reuid slurm --regid slurm --init-groups scontrol update NodeName=n3 State=DOWN Reason='Not responding'")
			go func() {
				time.Sleep(2 * time.Second)
				l.StartNodes(t, "n3")
			}()
			seen, err := l.Validate(ctx, slurmctl.Validation{Node: "n3", GPUs: h100(8), ReadyLimit: 40 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			if len(seen.Devices) != 8 || seen.Host != "ctl1" || seen.SMI != nil {
				t.Errorf("saw %+v", seen)
			}
		})
		t.Run("a node that never answers is not ready", func(t *testing.T) {
			l.StopNodes(t, "n2")
			l.Must(t, "setpriv --reuid slurm --regid slurm --init-groups scontrol update NodeName=n2 State=DOWN Reason='Not responding'")
			_, err := l.Validate(ctx, slurmctl.Validation{Node: "n2", GPUs: h100(8), ReadyLimit: 3 * time.Second})
			var late *slurmctl.NotReady
			if !errors.As(err, &late) || late.Node != "n2" {
				t.Errorf("got error %v, want *NotReady", err)
			}
		})
		t.Run("fewer GPUs than declared", func(t *testing.T) {
			l.Write(t, "/usr/local/bin/nvidia-smi", "#!/bin/sh\necho 'GPU 0: NVIDIA H100 (UUID: GPU-1)'\necho '  MIG 1g.10gb Device 0: (UUID: MIG-1)'\n")
			l.Must(t, "chmod 755 /usr/local/bin/nvidia-smi")
			seen, err := l.Validate(ctx, slurmctl.Validation{Node: "n3", GPUs: h100(8)})
			if err == nil || !strings.Contains(err.Error(), "nvidia-smi lists 1 GPUs on n3, fewer than the 8") {
				t.Errorf("got error %v after %+v", err, seen)
			}
			l.Must(t, "rm /usr/local/bin/nvidia-smi")
		})
		t.Run("a job that hangs is cancelled", func(t *testing.T) {
			l.Write(t, "/usr/local/bin/nvidia-smi", "#!/bin/sh\nsleep 600\n")
			l.Must(t, "chmod 755 /usr/local/bin/nvidia-smi")
			_, err := l.Validate(ctx, slurmctl.Validation{Node: "n3", GPUs: h100(8), JobLimit: 3 * time.Second})
			var late *slurmctl.JobTimeout
			if !errors.As(err, &late) {
				t.Errorf("got error %v, want *JobTimeout", err)
			}
			l.Must(t, "rm /usr/local/bin/nvidia-smi")
			l.Until(t, 30*time.Second, "squeue -h", func(out string) bool { return out == "" })
			l.Until(t, 30*time.Second, slurmctl.StepsCommand, func(out string) bool { return out == "" })
		})
		if err := l.Open(ctx, []string{"n1", "n2", "n3"}); err != nil {
			t.Fatal(err)
		}
		if err := l.Open(ctx, []string{"n1"}); err != nil {
			t.Errorf("opening what is open: %v", err)
		}
		if left := l.Must(t, "scontrol show reservation -o"); strings.Contains(left, "gpucluster-") {
			t.Errorf("a closure is left: %s", left)
		}
	})
}

func TestSmokeJobSpansHosts(t *testing.T) {
	onEachRelease(t, func(t *testing.T, release string) {
		l := start(t, release, threeNodes())
		ctx := context.Background()
		seen, err := l.RunSmoke(ctx, slurmctl.Smoke{Nodes: 2, GPUs: h100(2), Limit: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) != 2 || seen[0].Node != "n1" || seen[1].Node != "n2" || strings.Join(seen[1].Devices, ",") != "0,1" {
			t.Errorf("saw %+v", seen)
		}
		// Steps of a running job are seen on its host, and none afterwards.
		job := l.Submit(t, "-w n1", "sleep 300")
		l.WaitJob(t, job, "RUNNING")
		l.Until(t, 10*time.Second, slurmctl.StepsCommand, func(out string) bool { return strings.Contains(out, "slurmstepd: ["+job+".batch]") })

		t.Run("a job that gets no resources is cancelled", func(t *testing.T) {
			l.Must(t, "scontrol update NodeName=n2,n3 State=DRAIN Reason=busy")
			_, err := l.RunSmoke(ctx, slurmctl.Smoke{Nodes: 2, GPUs: h100(2), Limit: 3 * time.Second})
			var late *slurmctl.JobTimeout
			if !errors.As(err, &late) {
				t.Fatalf("got error %v, want *JobTimeout", err)
			}
			l.Until(t, 20*time.Second, "squeue -h -o %i", func(out string) bool { return strings.TrimSpace(out) == job })
		})
		t.Run("more GPUs than there are", func(t *testing.T) {
			_, err := l.RunSmoke(ctx, slurmctl.Smoke{Nodes: 2, GPUs: h100(9), Limit: 10 * time.Second})
			if err == nil {
				t.Error("got no error")
			}
		})
	})
}
