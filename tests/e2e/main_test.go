package e2e

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// small is an environment of a controller and two GPU hosts.
//
//go:embed testdata/small.yaml
var small string

// stage is one step of a test whose steps build on each other.
type stage struct {
	name string
	run  func(*testing.T, *cluster.Cluster)
	// vital stages end the test when they fail: nothing after them would mean
	// anything.
	vital bool
	// brief stages run also with -short.
	brief bool
}

func runStages(t *testing.T, c *cluster.Cluster, stages []stage) {
	for _, s := range stages {
		if testing.Short() && !s.brief {
			continue
		}
		passed := t.Run(s.name, func(t *testing.T) { s.run(t, c) })
		if !passed && s.vital {
			t.Fatalf("%s failed; what follows needs it", s.name)
		}
	}
}

// long skips a test that takes many minutes when -short is given.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes many minutes; not in -short")
	}
}

// wantChanges compares what a run touched with what it should have.
func wantChanges(t *testing.T, run cluster.Run, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := run.Changes(); !slices.Equal(got, want) {
		t.Errorf("%s touched\n  %s\nwant\n  %s", run.Verb, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// wantSays checks that a run printed each text.
func wantSays(t *testing.T, run cluster.Run, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !run.Says(text) {
			t.Errorf("%s does not say %q:\n%s", run.Verb, text, run.Output)
		}
	}
}
