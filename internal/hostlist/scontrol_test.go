package hostlist_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// asked runs a test against the scontrol of each release.
func asked(t *testing.T, run func(t *testing.T, show func(what, list string) string)) {
	t.Helper()
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			j := judge.For(t, v)
			run(t, func(what, list string) string {
				out, ok := j.Scontrol(t, "show", what, list)
				if !ok {
					t.Fatalf("scontrol show %s %s: %s", what, list, out)
				}
				return strings.TrimSpace(out)
			})
		})
	}
}

// TestExpandLikeScontrol asks Slurm itself what each expression stands for.
func TestExpandLikeScontrol(t *testing.T) {
	asked(t, func(t *testing.T, show func(string, string) string) {
		for _, expr := range []string{
			"gpu[001-003,007],cpu1", "n[8-11]", "n[08-11]", "n[098-101]", "rack[0-1]n[01-04]", "q1-dy-p4d-[1-4]", "n[7]", "n1[01-02]",
			"a1,a1", "n[1,01,2]", "n[009,10]",
		} {
			got, err := hostlist.Expand(expr)
			if err != nil {
				t.Errorf("Expand(%q): %v", expr, err)
				continue
			}
			if want := strings.Fields(show("hostnames", expr)); !reflect.DeepEqual(got, want) {
				t.Errorf("Expand(%q) = %q; scontrol says %q", expr, got, want)
			}
		}
	})
}

// TestExpandThreeBrackets: the same names as Slurm, whose own order is not the
// natural one from three bracket pairs on.
func TestExpandThreeBrackets(t *testing.T) {
	asked(t, func(t *testing.T, show func(string, string) string) {
		const expr = "a[0-1]b[2-3]c[4-5]"
		got, err := hostlist.Expand(expr)
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Fields(show("hostnames", expr))
		hostlist.Sort(want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("Expand(%q) = %q; scontrol says %q", expr, got, want)
		}
	})
}

// TestCompressIsReadByScontrol expands our expressions with Slurm: chosen ones
// and many by chance, always the same.
func TestCompressIsReadByScontrol(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var lists [][]string
	for _, expr := range []string{
		"gpu[001-016,020]", "r[0-3]n[01-32]", "n[1-120]", "n[1,01,2,02]", "ib[01-04]-mgmt", "a,b,c1", "n[9-11,099-101]",
	} {
		names, err := hostlist.Expand(expr)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, names)
	}
	for range 20 {
		lists = append(lists, chance(random))
	}
	asked(t, func(t *testing.T, show func(string, string) string) {
		for _, names := range lists {
			want := append([]string(nil), names...)
			hostlist.Sort(want)
			short := hostlist.Compress(names)
			if got := strings.Fields(show("hostnames", short)); !reflect.DeepEqual(got, want) {
				t.Errorf("scontrol reads %q as %q; want %q", short, got, want)
			}
		}
	})
}

// chance makes up to 40 different names of a few patterns.
func chance(random *rand.Rand) []string {
	patterns := []string{"n%d", "gpu%03d", "r1n%02d", "r2-n%d", "ib%d-x", "%dx"}
	seen := map[string]bool{}
	var out []string
	for range 40 {
		name := fmt.Sprintf(patterns[random.Intn(len(patterns))], random.Intn(120))
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// TestCompressLikeScontrol: where Slurm's own output has one range a name,
// ours is the same.
func TestCompressLikeScontrol(t *testing.T) {
	asked(t, func(t *testing.T, show func(string, string) string) {
		for _, list := range []string{"n1,n2,n3", "gpu001,gpu002,gpu007", "n08,n09,n10", "a,b,c1", "n9,n10", "r0n1,r0n2,r1n1"} {
			if got, want := hostlist.Compress(strings.Split(list, ",")), show("hostlist", list); got != want {
				t.Errorf("Compress(%q) = %q; scontrol says %q", list, got, want)
			}
		}
	})
}

// TestSuffixNeeds2311: what we write out, Slurm reads only from 23.11 on.
func TestSuffixNeeds2311(t *testing.T) {
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			out, ok := judge.For(t, v).Scontrol(t, "show", "hostnames", "ib[01-02]-mgmt")
			if reads := ok && strings.Fields(out)[0] == "ib01-mgmt"; reads != v.AtLeast(slurmconf.V2311) {
				t.Errorf("reads it: %v\n%s", reads, out)
			}
		})
	}
}
