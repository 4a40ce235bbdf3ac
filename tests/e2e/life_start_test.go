package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

func (l *life) up(t *testing.T, c *cluster.Cluster) {
	l.watcher = watchCommandLines()
	run := c.Up(t)
	l.watcher.stop()
	wantSays(t, run, "smoke job: ready")
	if left := nodesNot(t, c, "idle"); left != "" {
		t.Errorf("after up not every host is idle:\n%s", left)
	}
	if closed := c.Slurm(t, "scontrol -o show reservation"); strings.Contains(closed, "gpucluster-closed") {
		t.Errorf("after up a host is still closed: %s", closed)
	}
}

// nodesNot lists the nodes that are in another state, with their reasons.
func nodesNot(t *testing.T, c *cluster.Cluster, state string) string {
	t.Helper()
	var others []string
	for line := range strings.Lines(c.Slurm(t, "sinfo -h -N -o '%N %T %E' | sort -u")) {
		if fields := strings.Fields(line); fields[1] != state {
			others = append(others, strings.TrimSpace(line))
		}
	}
	return strings.Join(others, "\n")
}

func (l *life) again(t *testing.T, c *cluster.Cluster) {
	wantChanges(t, c.Up(t))
}

func (l *life) elsewhere(t *testing.T, c *cluster.Cluster) {
	first := c.Checkout
	before := first.Status(t)
	c.Checkout = first.Clone(t)
	defer func() { c.Checkout = first }()
	wantChanges(t, c.Up(t))
	if status := c.Checkout.Status(t); status != "" {
		t.Errorf("after up git says in the clone:\n%s", status)
	}
	if after := first.Status(t); after != before {
		t.Errorf("after up git says in the checkout:\n%s\nbefore:\n%s", after, before)
	}
}

func (l *life) partitions(t *testing.T, c *cluster.Cluster) {
	got := strings.Fields(c.Slurm(t, "sinfo -h -o '%P,%l,%s,%D,%G'"))
	want := []string{"train*,2-00:00:00,1-infinite,2,gpu:h100:8", "debug,30:00,1-2,2,gpu:h100:8"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("sinfo says %q, want %q", got, want)
	}
	topology := c.Slurm(t, "scontrol show topology")
	for _, line := range []string{
		"SwitchName=leaf1 Level=0 LinkSpeed=1 Nodes=gpu1",
		"SwitchName=leaf2 Level=0 LinkSpeed=1 Nodes=gpu2",
		"SwitchName=spine1 Level=1 LinkSpeed=1 Nodes=gpu[1-2] Switches=leaf[1-2]",
	} {
		if !strings.Contains(topology, line) {
			t.Errorf("scontrol show topology has no %q:\n%s", line, topology)
		}
	}
}

func (l *life) accounts(t *testing.T, c *cluster.Cluster) {
	wantLines(t, c.Slurm(t, "sacctmgr -n -P show assoc cluster="+clusterName(t, c)+" format=Account,User,Share,GrpTRES,MaxJobs,QOS,DefaultQOS"),
		"research||70|gres/gpu=32||normal,urgent|normal",
		"product||30|||normal|normal",
		"research|alice|1|||normal,urgent|normal",
		"product|bob|1||4|normal|normal",
	)
	wantLines(t, c.Slurm(t, "sacctmgr -n -P show qos format=Name,Priority,MaxTRESPU"), "normal|0|", "urgent|100|gres/gpu=16")
	// What fair share makes of it.
	wantLines(t, c.Slurm(t, "sshare -n -P -a -o Account,User,RawShares,NormShares | sed 's/^ *//'"),
		"research||70|0.693069", "product||30|0.297030")
}

func clusterName(t *testing.T, c *cluster.Cluster) string {
	t.Helper()
	return c.Slurm(t, "scontrol show config | sed -n 's/^ClusterName *= //p'")
}

func wantLines(t *testing.T, text string, lines ...string) {
	t.Helper()
	have := strings.Split(text, "\n")
	for _, line := range lines {
		if !slices.Contains(have, line) {
			t.Errorf("no line %q in:\n%s", line, text)
		}
	}
}
