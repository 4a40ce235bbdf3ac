package slurmstep

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestWhoseFault checks whose failure drains a host: its own, and not one of the
// deployer or the controller.
func TestWhoseFault(t *testing.T) {
	const (
		node = `case "$*" in
ping) echo "Slurmctld(primary) at ctl1 is UP" ;;
*"show node"*) echo "NodeName=gpu1 CPUTot=2 Sockets=1 Boards=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000 Gres=(null) State=IDLE Reason=(null)" ;;
*reservation*) echo "No reservations in the system" ;;
esac`
		fails = `echo '{"event":"result","host":"gpu1","status":"failed","task":"munge : Run munged","message":"no disk"}'; exit 2`
	)
	for name, c := range map[string]struct {
		ansible, scontrol string
		unprepared        string
		run               string // the outcome's reason; empty: the run fails
		drained           bool
	}{
		"a task fails on the host": {ansible: fails, scontrol: node, run: "Run munged: no disk", drained: true},
		"Ansible itself fails":     {ansible: `echo "ERROR! no space left" >&2; exit 1`, scontrol: node},
		"slurmctld is lost":        {ansible: fails, scontrol: down},
		"the host is not prepared": {ansible: "exit 1", scontrol: node, unprepared: "uid 20001 is taken", run: "takes no work until its preparation succeeds", drained: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"ansible-playbook": c.ansible, "scontrol": c.scontrol, "squeue": idle})
			s.Entries = map[string]string{hoststep.EnvUnprepared: c.unprepared}
			spec := MemberSpec{Host: "gpu1", Controllers: []string{"ctl1"}, Vars: map[string]any{
				"slurm_packages_version": "24.11", "slurm_compute_conf_servers": []string{"ctl1"},
			}}
			in := s.Input(t, spec, "gpu1", "ctl1")
			result, err := applyMember(context.Background(), in)
			if (err == nil) != (c.run != "") {
				t.Fatalf("result %+v, error %v", result, err)
			}
			if err == nil {
				if outcome := result.(step.Outcome); outcome.Status != step.StatusQuarantined || !strings.Contains(outcome.Reason, c.run) {
					t.Errorf("outcome %+v, want a quarantine that says %q", outcome, c.run)
				}
			}
			if c.drained && !strings.Contains(s.Asked(), c.run) {
				t.Errorf("the drain does not say %q:\n%s", c.run, s.Asked())
			}
			if drained := strings.Contains(s.Asked(), "State=DRAIN"); drained != c.drained {
				t.Errorf("drained: %v, want %v:\n%s", drained, c.drained, s.Asked())
			}
		})
	}
}

// TestLoginOfAHostThatIsNotPrepared checks that it is given nothing, and whose
// fault is whose.
func TestLoginOfAHostThatIsNotPrepared(t *testing.T) {
	for name, c := range map[string]struct {
		ansible, unprepared string
		want                string // the outcome's reason; empty: the run fails
	}{
		"not prepared":         {"exit 1", "uid 20001 is taken", "until its preparation succeeds"},
		"a task fails":         {`echo '{"event":"result","host":"login1","status":"failed","task":"x : Run munged","message":"no disk"}'; exit 2`, "", "no disk"},
		"Ansible itself fails": {`echo "ERROR! no space left" >&2; exit 1`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, map[string]string{"ansible-playbook": c.ansible})
			s.Entries = map[string]string{hoststep.EnvUnprepared: c.unprepared}
			result, err := applyLogin(context.Background(), s.Input(t, LoginSpec{Host: "login1", Vars: map[string]any{"slurm_packages_version": "24.11"}}, "login1"))
			text, _ := json.Marshal(result)
			if (err == nil) != (c.want != "") || !strings.Contains(string(text), c.want) {
				t.Errorf("result %s, error %v, want %q", text, err, c.want)
			}
		})
	}
}
