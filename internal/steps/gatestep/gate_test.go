package gatestep

import (
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
		"one of them":               {[]string{ready("a"), bad("b", "no GPU 3")}, 0, []string{"1 of the hosts of lab", "b: no GPU 3"}},
		"every one is named":        {[]string{bad("a", "x"), bad("b", "y")}, 0, []string{"2 of the hosts", "a: x", "b: y"}},
		"not an outcome is a fault": {[]string{"{}"}, 0, []string{"not an outcome"}},
	}
	for title, c := range cases {
		t.Run(title, func(t *testing.T) {
			result, err := judge("lab", c.outcomes)
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
