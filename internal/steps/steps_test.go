package steps

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// TestRegistry checks that each step can be told from the others and told of.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		if seen[s.Name] {
			t.Errorf("%s is there twice", s.Name)
		}
		seen[s.Name] = true
		if s.Name == "" || s.Title == "" || s.Apply == nil {
			t.Errorf("%q has no name, title or work", s.Name)
		}
		if strings.ContainsAny(s.Name, " \t'\"$;&|") {
			t.Errorf("%q would be more than one word of a command", s.Name)
		}
	}
}

// TestEverySpecIsReadStrictly checks that no step works on a spec that it does
// not understand whole: it could leave something out in silence.
func TestEverySpecIsReadStrictly(t *testing.T) {
	for _, s := range All() {
		for what, spec := range map[string]string{"an unknown field": `{"noSuchField":1}`, "no spec": ``, "a list": `[]`} {
			_, err := s.Apply(context.Background(), step.NewInput([]byte(spec), func(string) string { return "" }, io.Discard))
			if err == nil || !strings.Contains(err.Error(), "reading the step's spec") {
				t.Errorf("%s takes %s: %v", s.Name, what, err)
			}
		}
	}
}

// TestRemovalsReadAnySpec checks that a removal passes over fields of another
// release, and still fails on what is no spec at all.
func TestRemovalsReadAnySpec(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // nothing is to be done
	for _, s := range All() {
		if s.Remove == nil {
			continue
		}
		for spec, refused := range map[string]bool{`{"fieldOfAnotherRelease":1}`: false, `not JSON`: true} {
			err := s.Remove(ctx, step.NewInput([]byte(spec), func(string) string { return "" }, io.Discard))
			if got := err != nil && strings.Contains(err.Error(), "reading the step's spec"); got != refused {
				t.Errorf("%s refuses %s: %v", s.Name, spec, err)
			}
		}
	}
}
