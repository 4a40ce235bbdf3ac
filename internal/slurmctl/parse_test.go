package slurmctl_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

var update = flag.Bool("update", false, "capture the daemons' answers and rewrite the golden files")

// captures are the commands whose answers the parsers read, by file name.
var captures = map[string]string{
	"nodes":        "scontrol -a -d -o show node",
	"jobs":         "squeue --noheader --all '--format=%i|%t|%u|%a|%P|%N|%n|%x|%v|%D|%q|%j'",
	"reservations": "scontrol -a -o show reservation",
	"partitions":   "scontrol -a -o show partition",
}

// parsed is what a parser makes of an answer, for a golden file.
func parsed(t *testing.T, kind, answer string) []byte {
	t.Helper()
	var v any
	var err error
	switch kind {
	case "nodes":
		v, err = slurmctl.ParseNodes(answer)
	case "jobs":
		v, err = slurmctl.ParseJobs(answer)
	case "reservations":
		v, err = slurmctl.ParseReservations(answer)
	case "partitions":
		v, err = slurmctl.ParsePartitions(answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

// TestCapturedAnswers reads what the daemons of each release answered once.
// With -update it asks them again.
func TestCapturedAnswers(t *testing.T) {
	if *update {
		for release := range slurmtest.Releases {
			t.Run(release+"/capture", func(t *testing.T) { capture(t, release) })
		}
	}
	for release := range slurmtest.Releases {
		for kind := range captures {
			t.Run(release+"/"+kind, func(t *testing.T) {
				base := filepath.Join("testdata", kind+"-"+release)
				answer, err := os.ReadFile(base + ".txt")
				if err != nil {
					t.Fatal(err)
				}
				got := parsed(t, kind, string(answer))
				if *update {
					if err := os.WriteFile(base+".json", got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(base + ".json")
				if err != nil {
					t.Fatal(err)
				}
				if string(got) != string(want) {
					t.Errorf("parsed as\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// What differs from run to run and says nothing here.
var volatile = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|(CPULoad|FreeMem)=\S+|OS=Linux \S+ `)

func fixed(s string) string {
	switch {
	case strings.HasPrefix(s, "OS="):
		return "OS=Linux 6.1.0-28-amd64 "
	case strings.Contains(s, "="):
		key, _, _ := strings.Cut(s, "=")
		return key + "=1"
	}
	return "2026-01-02T03:04:05"
}

func capture(t *testing.T, release string) {
	conf := threeNodes()
	conf.Nodes["n4"] = "CPUs=4 RealMemory=1000"
	conf.Extra = "PartitionName=night Nodes=n[1-2] Hidden=YES RootOnly=YES AllowAccounts=research,product MaxTime=1-0 State=DOWN"
	l := start(t, release, conf)
	l.Submit(t, "-w n1 --gres=gpu:h100:3 --job-name='a|b c'", "sleep 100")
	l.Submit(t, "-w n2 --array=1-3 --exclusive", "sleep 100")
	l.Submit(t, "--hold -N2-3 -w n1 -x n3,n4", "true")
	l.Until(t, 10*time.Second, "squeue -h -t R", func(out string) bool { return strings.Count(out, "\n") == 2 })
	l.Must(t, `scontrol update nodename=n4 state=drain reason='bad State=IDLE [x@y] fan Gres=gpu:9'
scontrol update nodename=n3 state=down reason='Not responding'
scontrol create reservation reservationname=upkeep starttime=now duration=UNLIMITED users=root,slurm nodes=n[3-4] flags=maint,ignore_jobs`)
	for kind, command := range captures {
		answer := volatile.ReplaceAllStringFunc(l.Must(t, command), fixed)
		if err := os.WriteFile(filepath.Join("testdata", kind+"-"+release+".txt"), []byte(answer), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParseGres(t *testing.T) {
	gpu := func(kind string, n int64) slurmctl.Gres { return slurmctl.Gres{Name: "gpu", Type: kind, Count: n} }
	cases := map[string]struct {
		text string
		want []slurmctl.Gres
	}{
		"none":                     {"", nil},
		"null":                     {"(null)", nil},
		"typed":                    {"gpu:h100:8", []slurmctl.Gres{gpu("h100", 8)}},
		"with sockets":             {"gpu:h100:8(S:0-1)", []slurmctl.Gres{gpu("h100", 8)}},
		"S24: untyped, sockets":    {"gpu:4(S:0-1)", []slurmctl.Gres{gpu("", 4)}},
		"S24: null type, indexes":  {"gpu:(null):4(IDX:0-3)", []slurmctl.Gres{gpu("", 4)}},
		"indexes with commas":      {"gpu:h100:2(IDX:0,3),nic:1", []slurmctl.Gres{gpu("h100", 2), {Name: "nic", Count: 1}}},
		"no indexes":               {"gpu:h100:0(IDX:N/A)", []slurmctl.Gres{gpu("h100", 0)}},
		"two types":                {"gpu:h100:4,gpu:a100:2", []slurmctl.Gres{gpu("a100", 2), gpu("h100", 4)}},
		"one type twice":           {"gpu:h100:4(S:0),gpu:h100:4(S:1)", []slurmctl.Gres{gpu("h100", 8)}},
		"name alone":               {"gpu", []slurmctl.Gres{gpu("", 1)}},
		"type alone":               {"gpu:h100", []slurmctl.Gres{gpu("h100", 1)}},
		"a type that is a number":  {"gpu:3090:2", []slurmctl.Gres{gpu("3090", 2)}},
		"count with a suffix":      {"bandwidth:lustre:2K", []slurmctl.Gres{{Name: "bandwidth", Type: "lustre", Count: 2048}}},
		"not consumed":             {"gpu:h100:no_consume:4", []slurmctl.Gres{gpu("h100", 4)}},
		"a partition of a GPU":     {"gpu:a100_3g.20gb:2", []slurmctl.Gres{gpu("a100_3g.20gb", 2)}},
		"S31: a number is a count": {"gpu:3090", []slurmctl.Gres{gpu("", 3090)}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := slurmctl.ParseGres(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("ParseGres(%q) = %v, want %v", c.text, got, c.want)
			}
		})
	}
}

func TestParseState(t *testing.T) {
	cases := map[string]struct {
		text, want         string
		usable, responding bool
	}{
		"idle":               {"IDLE", "IDLE", true, true},
		"silent by mark":     {"MIXED*", "MIXED+NOT_RESPONDING", false, false},
		"silent by word":     {"IDLE+DRAIN+NOT_RESPONDING", "IDLE+DRAIN+NOT_RESPONDING", false, false},
		"never seen":         {"UNKNOWN+NOT_RESPONDING", "UNKNOWN+NOT_RESPONDING", false, false},
		"in maintenance":     {"IDLE+MAINTENANCE+RESERVED", "IDLE+MAINTENANCE+RESERVED", true, true},
		"maintenance mark":   {"IDLE$", "IDLE+MAINTENANCE", true, true},
		"invalid":            {"IDLE+DRAIN+INVALID_REG", "IDLE+DRAIN+INVALID_REG", false, true},
		"short words":        {"ALLOC+INVAL", "ALLOCATED+INVALID_REG", false, true},
		"many marks":         {"idle*~", "IDLE+NOT_RESPONDING+POWERED_DOWN", false, false},
		"down":               {"DOWN", "DOWN", false, true},
		"completing":         {"IDLE+COMPLETING", "IDLE+COMPLETING", true, true},
		"planned":            {"IDLE+PLANNED", "IDLE+PLANNED", true, true},
		"nothing whatsoever": {"", "", true, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := slurmctl.ParseState(c.text)
			if s.String() != c.want || s.Usable() != c.usable || s.Responding() != c.responding {
				t.Errorf("ParseState(%q) = %s, usable %v, responding %v", c.text, s, s.Usable(), s.Responding())
			}
		})
	}
}

func TestReasons(t *testing.T) {
	const line = "NodeName=n1 State=IDLE+DRAIN Reason="
	cases := map[string]struct{ tail, reason, user string }{
		"plain":                    {"fan broken [root@2026-01-02T03:04:05]", "fan broken", "root"},
		"no author":                {"fan broken", "fan broken", ""},
		"fields in the text":       {"see State=IDLE Gres=gpu:9 [root@2026-01-02T03:04:05]", "see State=IDLE Gres=gpu:9", "root"},
		"brackets in the text":     {"n[1-2] [a@b] bad [root@2026-01-02T03:04:05]", "n[1-2] [a@b] bad", "root"},
		"a comment after it":       {"bad [root@2026-01-02T03:04:05] Comment=seen [x@2026-01-02T03:04:05]", "bad", "root"},
		"a comment, but no author": {"bad Comment=seen", "bad", ""},
		"ours, with Slurm's tail":  {"gpucluster: leaving, Low RealMemory [slurm@2026-01-02T03:04:05]", "gpucluster: leaving, Low RealMemory", "slurm"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			nodes, err := slurmctl.ParseNodes(line + c.tail)
			if err != nil {
				t.Fatal(err)
			}
			if n := nodes[0]; n.Reason != c.reason || n.ReasonUser != c.user || n.State.String() != "IDLE+DRAIN" {
				t.Errorf("got reason %q by %q in state %s, want %q by %q", n.Reason, n.ReasonUser, n.State, c.reason, c.user)
			}
		})
	}
}

func TestParsersRefuse(t *testing.T) {
	refused := map[string]func() error{
		"a node without a name": func() error { _, err := slurmctl.ParseNodes("State=IDLE"); return err },
		"a node with odd CPUs":  func() error { _, err := slurmctl.ParseNodes("NodeName=a CPUTot=x"); return err },
		"a node with odd gres":  func() error { _, err := slurmctl.ParseNodes("NodeName=a Gres=:4"); return err },
		"a job cut short":       func() error { _, err := slurmctl.ParseJobs("1|R|u"); return err },
		"a job on odd nodes":    func() error { _, err := slurmctl.ParseJobs("1|R|u|a|p|n[|||r|1|q|n"); return err },
		"a job without a count": func() error { _, err := slurmctl.ParseJobs("1|R|u|a|p|n1|||r||q|n"); return err },
		"a nameless closure":    func() error { _, err := slurmctl.ParseReservations("Nodes=n1"); return err },
		"a nameless partition":  func() error { _, err := slurmctl.ParsePartitions("Nodes=n1"); return err },
		"gres without a name":   func() error { _, err := slurmctl.ParseGres(":8"); return err },
		"gres with many parts":  func() error { _, err := slurmctl.ParseGres("a:b:c:d:1"); return err },
		"gres without a count":  func() error { _, err := slurmctl.ParseGres("gpu:a:b"); return err },
		"more gres than counts": func() error { _, err := slurmctl.ParseGres("gpu:h100:9223372036854775807P"); return err },
	}
	for name, parse := range refused {
		t.Run(name, func(t *testing.T) {
			if parse() == nil {
				t.Error("got no error")
			}
		})
	}
}

func FuzzParseNodes(f *testing.F) { fuzzAnswers(f, "nodes") }

func FuzzParseJobs(f *testing.F) { fuzzAnswers(f, "jobs") }

func FuzzParseReservations(f *testing.F) { fuzzAnswers(f, "reservations") }

func FuzzParsePartitions(f *testing.F) { fuzzAnswers(f, "partitions") }

// fuzzAnswers checks that a parser never panics, and that each thing that it
// reads has a name.
func fuzzAnswers(f *testing.F, kind string) {
	for release := range slurmtest.Releases {
		answer, err := os.ReadFile(filepath.Join("testdata", kind+"-"+release+".txt"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(answer))
	}
	f.Fuzz(func(t *testing.T, answer string) {
		switch kind {
		case "nodes":
			nodes, _ := slurmctl.ParseNodes(answer)
			for _, n := range nodes {
				if n.Name == "" {
					t.Errorf("a node without a name in %q", answer)
				}
			}
		case "jobs":
			jobs, _ := slurmctl.ParseJobs(answer)
			for _, j := range jobs {
				if strings.Contains(j.ID, "|") {
					t.Errorf("the id %q in %q", j.ID, answer)
				}
			}
		case "reservations":
			_, _ = slurmctl.ParseReservations(answer)
		case "partitions":
			_, _ = slurmctl.ParsePartitions(answer)
		}
	})
}

func FuzzParseGres(f *testing.F) {
	for _, s := range []string{"gpu:h100:8(S:0-1)", "gpu:(null):4(IDX:0-3)", "a:b:2K,c", "gpu:h100:2(IDX:0,3)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := slurmctl.ParseGres(text)
		if err != nil || strings.ContainsAny(text, "()") {
			return
		}
		written := slurmctl.FormatGres(all)
		again, err := slurmctl.ParseGres(written)
		if err != nil || slurmctl.FormatGres(again) != written {
			t.Errorf("%q is written as %q and read as %v (%v)", text, written, again, err)
		}
	})
}
