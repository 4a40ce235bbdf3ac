package ledger

import (
	"reflect"
	"testing"
)

func TestLedger(t *testing.T) {
	l := New([]Entry{
		{Host: "gpu2", Owner: "slurm"},
		{Host: "gpu1", Owner: "slurm", GPUs: map[string]int{"h100": 8}},
		{Host: "gpu2", Owner: "kubernetes"},
	})
	if got, want := len(l), 2; got != want {
		t.Fatalf("%d entries, want %d: a host has one owner", got, want)
	}
	for host, want := range map[string]string{"gpu1": "slurm", "gpu2": "kubernetes", "gpu3": ""} {
		if got := l.Owner(host); got != want {
			t.Errorf("owner of %s is %q, want %q", host, got, want)
		}
	}
	if got, want := l.Owned("slurm"), []string{"gpu1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("slurm owns %v, want %v", got, want)
	}
}
