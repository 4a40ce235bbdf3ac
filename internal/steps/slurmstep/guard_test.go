package slurmstep

import (
	"context"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/steps/hoststep"
	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestGuard checks when a destruction is refused.
func TestGuard(t *testing.T) {
	for name, c := range map[string]struct {
		programs    map[string]string
		controllers []string
		lab         bool
		override    string
		want        []string // in the refusal; none: it passes
		log         string   // what it says when it passes
	}{
		"a job runs": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"ctl1"},
			want: []string{"jobs are on the cluster (1)", "7", "alice", "cancel them on ctl1 with scancel 7", hoststep.OverrideVariable + "=yes"},
		},
		"no job runs": {
			programs: map[string]string{"scontrol": up, "squeue": idle}, controllers: []string{"ctl1"},
		},
		"overridden": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"ctl1"}, override: "yes",
			log: "not waited for",
		},
		"another word does not override": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"ctl1"}, override: "true",
			want: []string{"on the cluster (1)"},
		},
		"a job waits": {
			programs: map[string]string{"scontrol": up, "squeue": waiting}, controllers: []string{"ctl1"},
			want: []string{"on the cluster (1)", "sweep", "bob", "PD, waiting\n", "scancel 8"},
		},
		"slurmctld is down": {
			programs: map[string]string{"scontrol": down, "squeue": running}, controllers: []string{"ctl1"},
			want: []string{"slurmctld does not answer on ctl1, so nobody can tell whether jobs run", hoststep.OverrideVariable + "=yes"},
		},
		"slurmctld is down and that does not matter": {
			programs: map[string]string{"scontrol": down}, controllers: []string{"ctl1"}, override: "yes",
			log: "not waited for",
		},
		"the controller of a lab is gone": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"gone"}, lab: true,
			log: "gone is gone",
		},
		"a controller cannot be reached": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"gone"},
			want: []string{"gone cannot be reached", "a VPN", hoststep.OverrideVariable + "=yes"},
		},
		"a controller cannot be reached and is given up": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"gone"}, override: "yes",
			log: "not waited for",
		},
		"the controller refuses the login": {
			programs: map[string]string{"scontrol": up, "squeue": idle}, controllers: []string{"locked"},
			want: []string{"nobody can tell whether jobs run", "locked: no login over SSH", "load the key", hoststep.OverrideVariable + "=yes"},
		},
		"one controller is gone and the other refuses": {
			programs: map[string]string{"scontrol": up, "squeue": idle}, controllers: []string{"gone", "locked"},
			want: []string{"locked: no login"},
		},
		"one controller refuses and the other answers": {
			programs: map[string]string{"scontrol": up, "squeue": idle}, controllers: []string{"locked", "ctl2"},
		},
		"the second controller answers": {
			programs: map[string]string{"scontrol": up, "squeue": running}, controllers: []string{"gone", "ctl2"},
			want: []string{"on the cluster (1)"},
		},
		"the list of jobs cannot be had": {
			programs: map[string]string{"scontrol": up, "squeue": "echo 'slurm_load_jobs error' >&2; exit 1"}, controllers: []string{"ctl1"},
			want: []string{"listing jobs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := steptest.New(t, c.programs)
			t.Setenv(hoststep.OverrideVariable, c.override)
			err := removeGuard(context.Background(), s.Input(t, GuardSpec{Controllers: c.controllers, Lab: c.lab}, c.controllers...))
			if (err != nil) != (c.want != nil) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the refusal %q does not say %q", err, want)
				}
			}
			if !strings.Contains(s.Log.String(), c.log) {
				t.Errorf("it says %q, want %q", s.Log.String(), c.log)
			}
			if strings.Contains(s.Asked(), "scancel") || strings.Contains(s.Asked(), "update") {
				t.Errorf("the guard changes something:\n%s", s.Asked())
			}
		})
	}
}
