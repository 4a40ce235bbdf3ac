package slurmconf_test

import (
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// harmless are complaints that a trial brings with it: there is no database, no
// earlier state, and Debian 12 leaves the PMIx library to be installed by itself.
var harmless = []string{
	"Job accounting information gathered, but not stored", "asked for it not to be stored",
	"state file", "backup state save file", "can only be used with SlurmDBD", "can not load PMIx library", "mpi/pmix_v4", "High latency for",
}

// TestGoldenIsLoaded: a real slurmctld of each release loads every golden set
// and complains of nothing in it.
func TestGoldenIsLoaded(t *testing.T) {
	for _, v := range slurmconf.Supported {
		for name, c := range slurmconf.Samples(v) {
			t.Run(v.String()+"/"+name, func(t *testing.T) {
				j := judge.For(t, v)
				set, err := slurmconf.Render(c)
				if err != nil {
					t.Fatal(err)
				}
				verdict := j.Load(t, set)
				if !verdict.Loaded {
					t.Fatalf("refused:\n%s", verdict.Log)
				}
				for _, line := range verdict.Complaints {
					if !known(line) {
						t.Error(line)
					}
				}
			})
		}
	}
}

func known(line string) bool {
	for _, h := range harmless {
		if strings.Contains(line, h) {
			return true
		}
	}
	return false
}
