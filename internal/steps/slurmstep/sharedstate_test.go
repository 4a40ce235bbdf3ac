package slurmstep

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/steptest"
)

// TestSharedState checks that controllers are refused that see different
// directories, and that nothing is left there. The stand-in for runuser shows
// the host "apart" an empty one.
func TestSharedState(t *testing.T) {
	const runuser = `shift 3
if [ "$host" = apart ] && [ "$1" = test ]; then exit 1; fi
exec "$@"`
	for name, c := range map[string]struct {
		controllers []string
		want        string // empty: accepted
	}{
		"one":                 {[]string{"apart"}, ""},
		"two that share":      {[]string{"ctl1", "ctl2"}, ""},
		"two that do not":     {[]string{"ctl1", "apart"}, " on apart is not the directory that ctl1 has there"},
		"one cannot be asked": {[]string{"ctl1", "gone"}, "gone: cannot be reached over SSH"},
		"slurm cannot write":  {[]string{"ctl1", "ctl2"}, "as slurm: "},
	} {
		t.Run(name, func(t *testing.T) {
			s, dir := steptest.New(t, map[string]string{"runuser": runuser, "sleep": "true"}), t.TempDir()
			if name == "slurm cannot write" {
				dir += "/absent"
			}
			session, err := s.Input(t, nil, c.controllers...).Connect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			err = sharedState(context.Background(), session, c.controllers, dir)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}
