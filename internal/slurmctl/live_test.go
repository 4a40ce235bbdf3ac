package slurmctl_test

import (
	"context"
	"maps"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmtest"
)

// onEachRelease runs a test against the real daemons of each release.
func onEachRelease(t *testing.T, run func(t *testing.T, release string)) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: -short leaves real daemons out")
	}
	t.Parallel() // go test -parallel 6 is not too much for two cores
	var releases []string
	for r := range slurmtest.Releases {
		releases = append(releases, r)
	}
	sort.Strings(releases)
	for _, r := range releases {
		t.Run(r, func(t *testing.T) {
			t.Parallel() // much of the time is waiting
			run(t, r)
		})
	}
}

// live is a running cluster with a client and the means to activate.
type live struct {
	*slurmtest.Cluster
	*slurmctl.Client
	conf slurmtest.Conf
}

func start(t *testing.T, release string, conf slurmtest.Conf) *live {
	t.Helper()
	c := slurmtest.StartCluster(t, release, conf)
	return &live{
		Cluster: c,
		Client: &slurmctl.Client{Runner: c, Poll: 200 * time.Millisecond,
			Progress: func(line string) { t.Log(line) }},
		conf: conf,
	}
}

func threeNodes() slurmtest.Conf {
	return slurmtest.Conf{Nodes: map[string]string{
		"n1": slurmtest.GPUNode, "n2": slurmtest.GPUNode, "n3": slurmtest.GPUNode,
	}}
}

// with returns the configuration after a change.
func (l *live) with(change func(nodes map[string]string)) slurmtest.Conf {
	conf := l.conf
	conf.Nodes = maps.Clone(conf.Nodes)
	change(conf.Nodes)
	return conf
}

func (l *live) activation(conf slurmtest.Conf) slurmctl.Activation {
	a := slurmctl.Activation{
		Version:       l.Release,
		DrainDeadline: 30 * time.Second,
		UpLimit:       30 * time.Second,
		Applied:       l.conf.Names(),
	}
	for path, content := range conf.Files(l.Release) {
		a.Files = append(a.Files, slurmctl.File{Path: path, Content: content})
	}
	sort.Slice(a.Files, func(i, j int) bool { return a.Files[i].Path < a.Files[j].Path })
	for _, name := range conf.Names() {
		n := slurmctl.NodeSpec{Name: name, CPUs: 16, Sockets: 2, Cores: 8, Threads: 1, RealMemory: 8000}
		_, gres, _ := strings.Cut(conf.Nodes[name], "Gres=")
		n.Gres, _ = slurmctl.ParseGres(gres)
		if !conf.Unresolved[name] {
			n.Addr = "10.77.0.1"
		}
		a.Nodes = append(a.Nodes, n)
	}
	return a
}

func (l *live) host() slurmctl.Host {
	return slurmctl.Shell{Runner: l.Cluster, Start: slurmtest.ControllerCommand, Stop: slurmtest.StopControllerCommand}
}

func (l *live) activate(t *testing.T, a slurmctl.Activation) (slurmctl.Activated, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return l.Client.Activate(ctx, l.host(), a)
}

func (l *live) node(t *testing.T, name string) slurmctl.Node {
	t.Helper()
	nodes, err := l.NodesNamed(context.Background(), []string{name})
	if err != nil {
		t.Fatal(err)
	}
	return nodes[0]
}

// restartNodes does what a host's own step does after a change of nodes before 23.11.
func (l *live) restartNodes(t *testing.T, names ...string) {
	t.Helper()
	l.StopNodes(t, names...)
	l.Until(t, 20*time.Second, "pgrep -c -x slurmd || true", func(out string) bool { return strings.TrimSpace(out) == "0" })
	l.StartNodes(t, names...)
}
