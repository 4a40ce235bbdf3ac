package gatestep

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestJudge(t *testing.T) {
	ready := func(h string) string { return `{"host":"` + h + `","status":"ready"}` }
	bad := func(h, why string) string {
		return `{"host":"` + h + `","status":"quarantined","reason":"` + why + `"}`
	}
	cases := map[string]struct {
		outcomes  []string
		wantReady int
		wantErrs  []string
	}{
		"nobody":                    {nil, 0, nil},
		"all ready, counted once":   {[]string{ready("a"), ready("b"), ready("a")}, 2, nil},
		"one of them":               {[]string{ready("a"), bad("b", "no GPU 3")}, 0, []string{"1 host of lab is in quarantine:\n  b: no GPU 3\nall others are ready"}},
		"every one is named":        {[]string{bad("a", "x"), bad("b", "y")}, 0, []string{"2 hosts of lab are in", "a: x", "b: y"}},
		"a host counts once":        {[]string{bad("a", "x"), ready("a"), bad("a", "y")}, 0, []string{"1 host of", "a: x", "a: y"}},
		"not an outcome is a fault": {[]string{"{}"}, 0, []string{"not an outcome"}},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			var result Result
			outcomes, err := Collect(c.outcomes)
			if err == nil {
				result, err = judge("lab", outcomes)
			}
			if (err != nil) != (len(c.wantErrs) > 0) {
				t.Fatalf("error %v, want %v", err, c.wantErrs)
			}
			for _, want := range c.wantErrs {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if result.Ready != c.wantReady {
				t.Errorf("%d ready, want %d", result.Ready, c.wantReady)
			}
		})
	}
}

// TestManyOutcomes checks that what the gate is given fits one entry of the
// environment, which holds 128 KiB, however many hosts there are and fail.
func TestManyOutcomes(t *testing.T) {
	for name, results := range map[string]func(i int) string{
		"all ready": func(i int) string { return fmt.Sprintf(`{"host":"gpu%04d","status":"ready","detail":"passed"}`, i) },
		"all failed with much to say": func(i int) string {
			return fmt.Sprintf(`{"host":"gpu%04d","status":"quarantined","reason":"%s"}`, i, strings.Repeat("é<", 1500))
		},
	} {
		var texts []string
		for i := range 5000 {
			texts = append(texts, results(i))
		}
		outcomes, err := Collect(texts)
		if err != nil {
			t.Fatal(err)
		}
		if outcomes.Ready+outcomes.Quarantined != 5000 {
			t.Errorf("%s: %d are ready and %d failed", name, outcomes.Ready, outcomes.Quarantined)
		}
		text, err := json.Marshal(outcomes)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("true")
		cmd.Env = []string{EnvOutcomes + "=" + string(text)}
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %d bytes: %v", name, len(text), err)
		}
		if _, err := judge("big", outcomes); outcomes.Quarantined > 0 && !strings.Contains(err.Error(), fmt.Sprintf("and %d more", 5000-len(outcomes.Listed))) {
			t.Errorf("%s: the rest is not counted: %.200s", name, err)
		}
	}
}
