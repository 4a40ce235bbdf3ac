package slurmconf_test

import (
	"regexp"
	"strconv"
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

// TestKeyTablesAreTrue asks each release about every key of the tables that
// its clients read: those that the table gives it are recognized, the others
// are not.
func TestKeyTablesAreTrue(t *testing.T) {
	const lastKey = "NoSuchKey"
	before := map[string]string{"slurm.conf": "", "node": "NodeName=n%d ", "partition": "PartitionName=p%d "}
	for _, v := range slurmconf.Supported {
		for table, start := range before {
			t.Run(v.String()+"/"+table, func(t *testing.T) {
				j := judge.For(t, v)
				says := func(known bool) (string, []string) {
					keys := slurmconf.Keys(table, v, known)
					text := "ClusterName=c\nSlurmctldHost=localhost\n"
					for i, k := range keys {
						text += strings.ReplaceAll(start, "%d", strconv.Itoa(i)) + k + "\n"
					}
					text += lastKey + "=1\n"
					return j.Read(t, map[string]string{"slurm.conf": text}), keys
				}
				refused := regexp.MustCompile(`unrecognized key: (\w+)`)
				out, keys := says(true)
				if len(keys) == 0 {
					t.Fatal("the table is empty")
				}
				all := refused.FindAllStringSubmatch(out, -1)
				if len(all) == 0 || all[len(all)-1][1] != lastKey {
					t.Fatalf("it did not read to the end:\n%s", out)
				}
				for _, m := range all[:len(all)-1] {
					t.Errorf("the table gives %s to the release, which does not know it", m[1])
				}
				out, keys = says(false)
				for _, k := range keys {
					key, _, _ := strings.Cut(k, "=")
					if !strings.Contains(out, "unrecognized key: "+key+"\n") {
						t.Errorf("the table denies %s to the release, which knows it\n%s", key, out)
					}
				}
			})
		}
	}
}

// TestLargeSetIsLoaded: 10,240 hosts under a three-level tree, in every
// release.
func TestLargeSetIsLoaded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			j := judge.For(t, v)
			set, err := slurmconf.Render(slurmconf.Large(10240, v))
			if err != nil {
				t.Fatal(err)
			}
			verdict, answers := j.Ask(t, set, []string{"show", "partition", "all"})
			if !verdict.Loaded || !strings.Contains(answers[0], "TotalNodes=10240") {
				t.Fatalf("loaded %v: %s\n%s", verdict.Loaded, answers[0], verdict.Log)
			}
			for _, line := range verdict.Complaints {
				if !known(line) {
					t.Error(line)
				}
			}
		})
	}
}
