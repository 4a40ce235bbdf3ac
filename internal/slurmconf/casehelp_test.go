package slurmconf_test

import (
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/judge"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// every runs a case against the real daemons of each release.
func every(t *testing.T, run func(*testing.T, *judge.Judge)) {
	t.Helper()
	for _, v := range slurmconf.Supported {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			run(t, judge.For(t, v))
		})
	}
}

func expand(t testing.TB, expr string) []string {
	t.Helper()
	out, err := hostlist.Expand(expr)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// gpuNode is a host with some GPUs of a type; none with count 0.
func gpuNode(name, gpuType string, count int) slurmconf.Node {
	n := slurmconf.Node{Name: name, Sockets: 2, CoresPerSocket: 8, ThreadsPerCore: 1, RealMemoryMiB: 64000}
	if count > 0 {
		n.GPUs = []slurmconf.GPUSet{{Type: gpuType, Count: count}}
	}
	return n
}

// cluster has the nodes in one partition and believes what is declared.
func cluster(v slurmconf.Version, nodes ...slurmconf.Node) slurmconf.Cluster {
	c := slurmconf.Cluster{
		Name: "case", Version: v, Controllers: []slurmconf.Controller{{Name: "ctl"}}, Nodes: nodes,
		Overrides: slurmconf.Overrides{TrustDeclared: true},
	}
	all := slurmconf.Partition{Name: "all", Default: true}
	for _, n := range nodes {
		all.Nodes = append(all.Nodes, n.Name)
	}
	c.Partitions = []slurmconf.Partition{all}
	return c
}

func render(t testing.TB, c slurmconf.Cluster) slurmconf.FileSet {
	t.Helper()
	set, err := slurmconf.Render(c)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// with returns the set with other content in one file, as a person who edits
// by hand, or another generator, would write it.
func with(set slurmconf.FileSet, name, content string) slurmconf.FileSet {
	files := make([]slurmconf.File, 0, len(set.Files)+1)
	found := false
	for _, f := range set.Files {
		if f.Name == name {
			f.Content, found = content, true
		}
		files = append(files, f)
	}
	if !found {
		files = append(files, slurmconf.File{Name: name, Content: content})
	}
	set.Files = files
	return set
}

// swap replaces a part of a file of the set that must be there.
func swap(t testing.TB, set slurmconf.FileSet, name, old, new string) slurmconf.FileSet {
	t.Helper()
	if !strings.Contains(set.Content(name), old) {
		t.Fatalf("%s has no %q", name, old)
	}
	return with(set, name, strings.ReplaceAll(set.Content(name), old, new))
}

// has and hasNot look at one file, line by line.
func has(t testing.TB, set slurmconf.FileSet, file string, lines ...string) {
	t.Helper()
	for _, l := range lines {
		if !strings.Contains("\n"+set.Content(file), "\n"+l+"\n") {
			t.Errorf("%s has no line %q:\n%s", file, l, set.Content(file))
		}
	}
}

func hasNot(t testing.TB, set slurmconf.FileSet, file string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(set.Content(file), p) {
			t.Errorf("%s has %q:\n%s", file, p, set.Content(file))
		}
	}
}

// reported wants one problem at a path that says something.
func reported(t testing.TB, c slurmconf.Cluster, path, says string) slurmconf.Problem {
	t.Helper()
	for _, p := range slurmconf.Check(c) {
		if p.Path == path && strings.Contains(p.What+" "+p.Hint, says) {
			return p
		}
	}
	t.Errorf("no problem at %s that says %q:\n%s", path, says, slurmconf.Check(c))
	return slurmconf.Problem{}
}

// loaded and refused ask slurmctld.
func loaded(t testing.TB, j *judge.Judge, set slurmconf.FileSet) judge.Verdict {
	t.Helper()
	v := j.Load(t, set)
	if !v.Loaded {
		t.Errorf("slurmctld refuses it:\n%s", v.Log)
	}
	return v
}

func refused(t testing.TB, j *judge.Judge, set slurmconf.FileSet, says string) {
	t.Helper()
	v := j.Load(t, set)
	if v.Loaded || !v.Says(says) {
		t.Errorf("loaded %v; want it refused, with %q:\n%s", v.Loaded, says, v.Log)
	}
}

// gpus adds up the GPUs that "slurmd -G" tells of.
func gpus(output string) int {
	total := 0
	for _, m := range gresLine.FindAllStringSubmatch(output, -1) {
		n, _ := strconv.Atoi(m[1])
		total += n
	}
	return total
}

var gresLine = regexp.MustCompile(`Gres Name=gpu .*?Count=(\d+)`)

func extraKeys(file string, pairs map[string]string) map[string]map[string]string {
	return map[string]map[string]string{file: maps.Clone(pairs)}
}
