package slurmtest

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// Conf describes a slurm.conf for a sandbox: simulated nodes, all on one host.
type Conf struct {
	// Nodes maps a node's name to its line after NodeName, without port and
	// host name, for example "CPUs=8 Gres=gpu:h100:8".
	Nodes map[string]string
	// Extra are further lines of slurm.conf.
	Extra string
	// Accounting lets slurmctld talk to slurmdbd.
	Accounting bool
	// Unresolved names nodes that get no NodeAddr, so that their name must resolve.
	Unresolved map[string]bool
}

// GPUNode is the line of a simulated server with eight GPUs.
const GPUNode = "CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000 Gres=gpu:h100:8"

// Names of the nodes, sorted.
func (c Conf) Names() []string {
	var names []string
	for n := range c.Nodes {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Files are the contents of the configuration by path.
func (c Conf) Files(release string) map[string]string {
	var b strings.Builder
	b.WriteString(baseConf)
	if c.Accounting {
		b.WriteString(accountingConf)
	}
	b.WriteString(c.Extra + "\n")
	var gres strings.Builder
	for _, n := range c.Names() {
		addr := " NodeAddr=10.77.0.1"
		if c.Unresolved[n] {
			addr = ""
		}
		fmt.Fprintf(&b, "NodeName=%s NodeHostname=ctl1%s Port=%d %s\n", n, addr, port(n), c.Nodes[n])
		if _, g, ok := strings.Cut(c.Nodes[n], "Gres=gpu:h100:"); ok {
			count := int(g[0] - '0')
			fmt.Fprintf(&gres, "NodeName=%s Name=gpu Type=h100 File=/dev/nvidia[0-%d]\n", n, count-1)
		}
	}
	b.WriteString("PartitionName=main Nodes=ALL Default=YES MaxTime=UNLIMITED State=UP OverSubscribe=NO\n")
	files := map[string]string{
		"/etc/slurm/slurm.conf": b.String(),
		"/etc/slurm/gres.conf":  gres.String(),
	}
	files["/etc/slurm/cgroup.conf"] = "CgroupPlugin=disabled\n"
	if release == "22.05" {
		files["/etc/slurm/cgroup.conf"] = "CgroupPlugin=cgroup/v1\n"
	}
	return files
}

// port derives a node's port from its name, so that it stays when others go.
func port(name string) int {
	sum := 0
	for _, c := range []byte(name) {
		sum = (sum*31 + int(c)) % 4000
	}
	return 20000 + sum
}

const baseConf = `ClusterName=test
SlurmctldHost=ctl1(10.77.0.1)
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd-%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
SlurmctldLogFile=/var/log/slurmctld.log
SlurmdLogFile=/var/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=1
SlurmdTimeout=300
KillWait=2
MinJobAge=60
`

const accountingConf = `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=10.77.0.1
AccountingStorageEnforce=associations,limits,qos,safe
AccountingStorageTRES=gres/gpu,gres/gpu:h100
PriorityType=priority/multifactor
`

// Cluster is a running Slurm in a sandbox.
type Cluster struct {
	*Sandbox
}

// StartCluster boots a sandbox and, in it, munged, slurmctld and a slurmd for each
// node of the configuration, and waits until all nodes are idle.
func StartCluster(t testing.TB, release string, conf Conf) *Cluster {
	t.Helper()
	return Boot(t, Start(t, release), conf)
}

// Boot starts the daemons in a sandbox that may have been changed before.
func Boot(t testing.TB, s *Sandbox, conf Conf) *Cluster {
	t.Helper()
	c := &Cluster{Sandbox: s}
	c.StartMunge(t)
	if conf.Accounting {
		c.StartAccounting(t)
	}
	c.Place(t, conf)
	c.StartController(t)
	c.StartNodes(t, conf.Names()...)
	c.WaitIdle(t, conf.Names()...)
	return c
}

// StartMunge starts munged with a key of its own.
func (c *Cluster) StartMunge(t testing.TB) {
	t.Helper()
	c.Must(t, `install -d -o munge -g munge -m 755 /run/munge
install -d -o munge -g munge -m 700 /etc/munge /var/lib/munge /var/log/munge
head -c 128 /dev/urandom >/etc/munge/munge.key
chown munge:munge /etc/munge/munge.key
chmod 400 /etc/munge/munge.key
setpriv --reuid munge --regid munge --clear-groups munged --log-file=/var/log/munge/munged.log >/dev/null 2>&1`)
}

// Place writes the configuration files.
func (c *Cluster) Place(t testing.TB, conf Conf) {
	t.Helper()
	for path, content := range conf.Files(c.Release) {
		c.Write(t, path, content)
	}
}

// ControllerCommand starts slurmctld and returns when it is in the background.
const ControllerCommand = `install -d -o slurm -g slurm /var/spool/slurmctld
touch /var/log/slurmctld.log /run/slurmctld.pid && chown slurm /var/log/slurmctld.log /run/slurmctld.pid
setpriv --reuid slurm --regid slurm --init-groups slurmctld </dev/null >/dev/null 2>&1`

// StopControllerCommand stops slurmctld and waits until it is gone.
const StopControllerCommand = `pid=$(cat /run/slurmctld.pid) && [ -n "$pid" ] || exit 0
kill "$pid" 2>/dev/null || exit 0
n=0
while kill -0 "$pid" 2>/dev/null; do
	n=$((n + 1)); [ $n -lt 100 ] || exit 1
	sleep 0.2
done`

// StartController starts slurmctld and waits until it answers.
func (c *Cluster) StartController(t testing.TB) {
	t.Helper()
	c.Must(t, ControllerCommand)
	c.Until(t, 30*time.Second, "scontrol ping || { tail -n 5 /var/log/slurmctld.log >&2; exit 1; }",
		func(out string) bool { return strings.Contains(out, " UP") })
}

// StopController stops slurmctld.
func (c *Cluster) StopController(t testing.TB) {
	t.Helper()
	c.Must(t, StopControllerCommand)
}

// StartNodes starts the slurmd of each node.
func (c *Cluster) StartNodes(t testing.TB, names ...string) {
	t.Helper()
	for _, n := range names {
		c.Must(t, fmt.Sprintf("mkdir -p /var/spool/slurmd-%s && slurmd -N %[1]s </dev/null >/dev/null 2>&1 || { tail -n 5 /var/log/slurmd-%[1]s.log >&2; exit 1; }", n))
	}
}

// StopNodes stops the slurmd of each node.
func (c *Cluster) StopNodes(t testing.TB, names ...string) {
	t.Helper()
	for _, n := range names {
		c.Must(t, fmt.Sprintf("kill $(cat /run/slurmd-%s.pid)", n))
	}
}

// WaitIdle waits until the nodes are idle.
func (c *Cluster) WaitIdle(t testing.TB, names ...string) {
	t.Helper()
	c.Until(t, 60*time.Second, "scontrol show node -o", func(out string) bool {
		nodes, err := slurmctl.ParseNodes(out)
		idle := map[string]bool{}
		for _, n := range nodes {
			idle[n.Name] = n.State.Base == "IDLE" && n.State.Responding()
		}
		for _, n := range names {
			if !idle[n] {
				return false
			}
		}
		return err == nil
	})
}

// Submit submits a batch job whose script is body and returns its id.
func (c *Cluster) Submit(t testing.TB, args, body string) string {
	t.Helper()
	out, err := c.Run(context.Background(), "cd /tmp && sbatch --parsable "+args, []byte("#!/bin/sh\n"+body+"\n"))
	if err != nil {
		t.Fatalf("submitting a job: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// JobState is the long state of a job, such as RUNNING.
func (c *Cluster) JobState(t testing.TB, id string) string {
	t.Helper()
	out := c.Must(t, "scontrol show job -o "+id)
	_, rest, _ := strings.Cut(out, "JobState=")
	state, _, _ := strings.Cut(rest, " ")
	return state
}

// WaitJob waits until a job is in the state.
func (c *Cluster) WaitJob(t testing.TB, id, state string) {
	t.Helper()
	c.Until(t, 60*time.Second, "scontrol show job -o "+id, func(out string) bool {
		return strings.Contains(out, "JobState="+state+" ")
	})
}
