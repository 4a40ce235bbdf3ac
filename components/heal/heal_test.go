package heal

import (
	"context"
	"errors"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/priorstate"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// prior is a resource that runs a step, as the last update left it.
func prior(name, stepName, heal, stdout string) priorstate.Resource {
	return priorstate.Resource{Name: name, Type: priorstate.CommandType, Outputs: map[string]any{
		"create": step.ApplyCommand(stepName), "stdin": `{"name":"` + name + `"}`, "stdout": stdout,
		"environment": map[string]any{step.EnvHeal: heal, "CONNECTION": "to " + name},
	}}
}

func TestAssess(t *testing.T) {
	type seen struct{ Name, Connection, Previous string }
	const ready = `{"host":"h","status":"ready"}`
	const quarantined = `{"host":"h","status":"quarantined","reason":"no disk"}`
	cases := map[string]struct {
		stdout     string
		probe      bool
		unwell     bool
		heal       string
		wantCount  int
		wantReason string
		wantProbed bool
	}{
		"healthy":                          {ready, true, false, "0", 0, "", true},
		"healthy keeps its count":          {ready, true, false, "3", 3, "", true},
		"unwell":                           {ready, true, true, "3", 4, "unwell", true},
		"a preview does not probe":         {ready, false, true, "3", 3, "", false},
		"quarantined, also in a preview":   {quarantined, false, false, "1", 2, "quarantined by the last update: no disk", false},
		"quarantined is not probed either": {quarantined, true, true, "1", 2, "quarantined by the last update: no disk", false},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			var got *seen
			registry := step.Registry{{Name: "watch", Probe: func(_ context.Context, in *step.Input) error {
				got = &seen{Connection: in.Getenv("CONNECTION"), Previous: in.Getenv(step.EnvPrevious)}
				var spec struct{ Name string }
				if err := in.SpecLoosely(&spec); err != nil {
					return err
				}
				got.Name = spec.Name
				if c.unwell {
					return errors.New("unwell")
				}
				return nil
			}}}
			a := assess(context.Background(), priorstate.Of(prior("r", "watch", c.heal, c.stdout)), registry, c.probe)
			if a.Count("r") != c.wantCount {
				t.Errorf("count %d, want %d", a.Count("r"), c.wantCount)
			}
			reason := ""
			if len(a.Findings()) > 0 {
				reason = a.Findings()[0].Reason
			}
			if reason != c.wantReason {
				t.Errorf("reason %q, want %q", reason, c.wantReason)
			}
			if (got != nil) != c.wantProbed {
				t.Fatalf("probed: %v, want %v", got != nil, c.wantProbed)
			}
			if want := (seen{"r", "to r", c.stdout}); got != nil && *got != want {
				t.Errorf("the probe saw %+v, want %+v", *got, want)
			}
		})
	}
}

// TestNilAssessment checks that a program without one gets plain defaults.
func TestNilAssessment(t *testing.T) {
	var a *Assessment
	if a.Count("r") != 0 || a.Findings() != nil || a.Named("s") != nil {
		t.Error("an absent assessment is not empty")
	}
	if _, ok := a.Stdin("r"); ok {
		t.Error("an absent assessment knows a resource")
	}
}

func TestNamed(t *testing.T) {
	a := assess(context.Background(), priorstate.Of(
		prior("b", "watch", "0", ""), prior("a", "watch", "0", ""), prior("c", "other", "0", "")), nil, false)
	if got := a.Named("watch"); len(got) != 2 || got[0] != "a" || got[1] != "b" {
		t.Errorf("named %v, want [a b]", got)
	}
}

// TestCountWithout has a run cut off between a resource and the release after it.
func TestCountWithout(t *testing.T) {
	release := priorstate.Resource{Name: "release", Type: priorstate.ReleaseType}
	record := prior("record", "watch", "2", "")
	for name, c := range map[string]struct {
		resources []priorstate.Resource
		want      int
	}{
		"nothing yet":       {nil, 0},
		"both are there":    {[]priorstate.Resource{record, release}, 2},
		"a run was cut off": {[]priorstate.Resource{record}, 3},
		"the release alone": {[]priorstate.Resource{release}, 0},
	} {
		if got := assess(context.Background(), priorstate.Of(c.resources...), nil, false).CountWithout("record", "release"); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := (*Assessment)(nil).CountWithout("record", "release"); got != 0 {
		t.Errorf("without an assessment: %d", got)
	}
}
