package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// TestFaults breaks one cluster in every way that a machine room knows. After
// each, the next up makes it whole and the one after that changes nothing; at
// the end every job that was accepted has its record.
func TestFaults(t *testing.T) {
	long(t)
	t.Parallel()
	c := cluster.New(t, "faults", small)
	runStages(t, c, []stage{
		{"up", func(t *testing.T, c *cluster.Cluster) { c.Up(t) }, true, false},
		{"a daemon is killed", killDaemons, false, false},
		{"a host is rebooted", rebootHost, false, false},
		{"a host's container is killed", killContainer, false, false},
		{"a host's container is removed", removeContainer, false, false},
		{"the controller's container is killed", killController, false, false},
		{"a host loses its network while up runs", cutNetwork, false, false},
		{"a unit's drop-in is edited", editDropin, false, false},
		{"the lab's network is removed", removeNetwork, false, false},
		{"the database's password is changed", changePassword, false, false},
		{"a host fails its preparation", failPreparation, false, false},
		{"a person holds a host", holdHost, false, false},
		{"up is interrupted", interruptUp, false, false},
		{"up is killed", killUp, false, false},
		{"two ups run at once", twoUps, false, false},
		{"the controller's disk is full", fillDisk, false, false},
		{"no accepted job is lost", func(t *testing.T, c *cluster.Cluster) {
			if lost := c.LostJobs(t); len(lost) > 0 {
				t.Errorf("jobs %v were accepted and have no record", lost)
			}
		}, false, false},
		{"destroy of hosts that refuse the login", downWithoutLogin, false, false},
		{"destroy without slurmctld", downWithoutSlurmctld, false, false},
		{"destroy without the controller's container", downWithoutController, true, false},
	})
}

// heals runs up twice: the first repairs, the second has nothing to do.
func heals(t *testing.T, c *cluster.Cluster) cluster.Run {
	t.Helper()
	repair := c.Up(t)
	wantChanges(t, c.Up(t))
	if left := nodesNot(t, c, "idle"); left != "" {
		t.Errorf("after the repair not every host is idle:\n%s", left)
	}
	worksAgain(t, c)
	return repair
}

// worksAgain runs a job over both hosts.
func worksAgain(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	id := c.Submit(t, "alice", "-N2 --gres=gpu:8 -t 5", "srun hostname")
	if job := c.WaitJob(t, id, 2*time.Minute, "COMPLETED", "FAILED", "NODE_FAIL"); job.State != "COMPLETED" {
		t.Errorf("a job after the repair ended as %+v", job)
	}
}

func killDaemons(t *testing.T, c *cluster.Cluster) {
	running := c.SubmitOpen(t, "alice", "-w gpu1 --gres=gpu:1 -t 30")
	c.WaitRunning(t, running)
	waiting := c.Submit(t, "bob", "-w gpu1 --gres=gpu:8 -t 10", "hostname")
	c.StateSaved()
	for _, victim := range []struct{ host, unit, question string }{
		{cluster.Controller, "slurmctld", "scontrol ping | grep -q 'is UP'"},
		{cluster.Controller, "slurmdbd", "sacctmgr -n show cluster | grep -q ."},
		{cluster.Controller, "munge", "munge -n | unmunge"},
		{"gpu1", "munge", "munge -n | unmunge"},
		{"gpu1", "slurmd", "scontrol -o show node gpu1 | grep -w State=MIXED"},
	} {
		pid := c.On(t, victim.host, "systemctl show -p MainPID --value "+victim.unit)
		c.On(t, victim.host, "kill -9 "+pid)
		started := time.Now()
		cluster.Until(t, victim.unit+" to come back on "+victim.host, time.Minute, func() error {
			if now := c.On(t, victim.host, "systemctl show -p MainPID --value "+victim.unit); now == pid || now == "0" {
				return fmt.Errorf("its process is %s", now)
			}
			if out, err := c.TryOn(t, victim.host, victim.question); err != nil {
				return fmt.Errorf("%w\n%s\n%s", err, out, c.Slurm(t, "squeue; sinfo -N -o '%N %T %E'"))
			}
			return nil
		})
		t.Logf("%s on %s works again %.0f s after kill -9", victim.unit, victim.host, time.Since(started).Seconds())
	}
	c.WaitRunning(t, running)
	c.EndJob(t, "alice", running)
	c.WaitJob(t, running, 5*time.Minute, "COMPLETED")
	c.WaitJob(t, waiting, 2*time.Minute, "COMPLETED")
	heals(t, c)
}

func rebootHost(t *testing.T, c *cluster.Cluster) {
	job := c.Submit(t, "alice", "-w gpu1 --no-requeue --gres=gpu:1 -t 10", "sleep 500")
	c.WaitRunning(t, job)
	c.Docker(t, "restart", c.Container("gpu1"))
	ended := c.WaitJob(t, job, 3*time.Minute, "NODE_FAIL", "FAILED", "COMPLETED", "CANCELLED")
	t.Logf("the job on the host that was rebooted ended as %s", ended.State)
	cluster.Until(t, "gpu1 to be back by itself", 3*time.Minute, func() error {
		if node := c.Node(t, "gpu1"); !strings.HasPrefix(node, "idle") {
			return errors.New(node)
		}
		return nil
	})
	heals(t, c)
}

func killContainer(t *testing.T, c *cluster.Cluster) {
	c.Docker(t, "kill", c.Container("gpu2"))
	wantSays(t, heals(t, c), "needs repair", "gpu2")
}

func removeContainer(t *testing.T, c *cluster.Cluster) {
	c.Docker(t, "rm", "-f", "-v", c.Container("gpu2"))
	wantSays(t, heals(t, c), "needs repair", "gpu2")
}

// addUser changes something on every host.
func addUser(t *testing.T, c *cluster.Cluster, name string, uid int) {
	t.Helper()
	c.Edit(t, `        - name: carol
`, fmt.Sprintf(`        - name: %s
          uid: %d
          group: product
        - name: carol
`, name, uid))
}

// whenPrinted waits until a run has printed a text.
func whenPrinted(t *testing.T, running *cluster.Running, text string) {
	t.Helper()
	cluster.Until(t, "up to print "+text, 5*time.Minute, func() error {
		if running.Ended() || strings.Contains(running.Output(), text) {
			return nil
		}
		return errors.New("not yet")
	})
	if running.Ended() {
		t.Fatalf("up ended before it printed %q:\n%s", text, running.Output())
	}
}

func cutNetwork(t *testing.T, c *cluster.Cluster) {
	addUser(t, c, "dave", 20010)
	running := c.StartUp(t)
	whenPrinted(t, running, c.Name+"-gpu2-baseline updating")
	c.Docker(t, "network", "disconnect", "-f", c.Network(), c.Container("gpu2"))
	run := running.Wait(t)
	if run.Err == nil {
		t.Fatalf("up succeeds although gpu2 has no network:\n%s", run.Output)
	}
	wantSays(t, run, "in quarantine", "gpu2")
	if uid := c.On(t, "gpu1", "id -u dave"); uid != "20010" {
		t.Errorf("gpu1 was not finished: dave is %s there", uid)
	}
	heals(t, c)
	if uid := c.On(t, "gpu2", "id -u dave"); uid != "20010" {
		t.Errorf("gpu2 was not finished: dave is %s there", uid)
	}
}

// editDropin changes how a daemon is started, on a host of each kind.
func editDropin(t *testing.T, c *cluster.Cluster) {
	edits := map[string]string{cluster.Controller: "slurmdbd", "gpu1": "slurmd"}
	for host, unit := range edits {
		c.On(t, host, "sed -i 's/^Restart=always/Restart=no/' /etc/systemd/system/"+unit+".service.d/gpucluster.conf && systemctl daemon-reload")
	}
	repair := heals(t, c)
	for host, unit := range edits {
		wantSays(t, repair, "files on "+host+" were changed by somebody else: /etc/systemd/system/"+unit+".service.d/gpucluster.conf")
		if restart := c.On(t, host, "systemctl show -p Restart --value "+unit); restart != "always" {
			t.Errorf("%s on %s is started with Restart=%s", unit, host, restart)
		}
	}
}

func removeNetwork(t *testing.T, c *cluster.Cluster) {
	for _, host := range []string{cluster.Controller, "gpu1", "gpu2"} {
		c.Docker(t, "network", "disconnect", "-f", c.Network(), c.Container(host))
	}
	c.Docker(t, "network", "rm", c.Network())
	wantSays(t, heals(t, c), "needs repair", "the lab "+c.Name+" has no network")
}

// changePassword locks slurmdbd out: it runs, but serves nobody.
func changePassword(t *testing.T, c *cluster.Cluster) {
	c.On(t, cluster.Controller, `mariadb -e "alter user slurm@localhost identified by 'x'" && systemctl restart slurmdbd`)
	wantSays(t, heals(t, c), "needs repair", "slurmdbd runs on "+cluster.Controller+", but takes no connections", "Access denied")
}

// failPreparation takes an id that somebody is to have. The host takes no job
// until it is right, and the others are finished.
func failPreparation(t *testing.T, c *cluster.Cluster) {
	c.On(t, "gpu2", "useradd -M -u 20013 stranger")
	addUser(t, c, "grace", 20013)
	run := c.TryUp(t)
	if run.Err == nil {
		t.Fatalf("up succeeds although an id is taken on gpu2:\n%s", run.Output)
	}
	wantSays(t, run, "1 host of "+c.Name+" is in quarantine", "gpu2", "stranger")
	if node := c.Node(t, "gpu2"); !strings.Contains(node, "drain") || !strings.Contains(node, "gpucluster: quarantined") {
		t.Errorf("gpu2 may take jobs: %s", node)
	}
	if node := c.Node(t, "gpu1"); !strings.HasPrefix(node, "idle") {
		t.Errorf("gpu1 is %s", node)
	}
	c.On(t, "gpu2", "userdel stranger")
	heals(t, c)
}

// holdHost drains a host by hand. No run takes it back or fails because of it,
// and once it is let go nothing is in the way.
func holdHost(t *testing.T, c *cluster.Cluster) {
	c.Slurm(t, "scontrol update nodename=gpu2 state=drain reason=fan")
	c.On(t, "gpu2", "systemctl stop slurmd")
	wantSays(t, c.Up(t), "needs repair", "gpu2")
	wantChanges(t, c.Up(t))
	if node := c.Node(t, "gpu2"); !strings.Contains(node, "drain") || !strings.Contains(node, "fan") {
		t.Errorf("gpu2 was taken from the person who holds it: %s", node)
	}
	c.Slurm(t, "scontrol update nodename=gpu2 state=resume")
	worksAgain(t, c)
	wantChanges(t, c.Up(t))
}

func interruptUp(t *testing.T, c *cluster.Cluster) {
	addUser(t, c, "erin", 20011)
	running := c.StartUp(t)
	whenPrinted(t, running, "-baseline updating")
	running.Interrupt()
	if run := running.Wait(t); run.Err == nil {
		t.Error("an interrupted up reports success")
	}
	heals(t, c)
}

func killUp(t *testing.T, c *cluster.Cluster) {
	addUser(t, c, "frank", 20012)
	running := c.StartUp(t)
	whenPrinted(t, running, "-baseline updating")
	running.Kill()
	if run := running.Wait(t); run.Err == nil {
		t.Error("a killed up reports success")
	}
	wantSays(t, heals(t, c), "its lock goes")
}

// refuses destroys in vain, and checks that the cluster is as it was.
func refuses(t *testing.T, c *cluster.Cluster, restore func(), says ...string) {
	t.Helper()
	run := c.TryDown(t)
	restore()
	if run.Err == nil {
		t.Fatalf("destroy goes on:\n%s", run.Output)
	}
	wantSays(t, run, says...)
	// What takes nothing away may be gone from the state, and nothing else is.
	for _, change := range c.Up(t).Changes() {
		if !slices.Contains([]string{"create accounting", "create gate", "create smoke"}, change) {
			t.Errorf("after the refusal up does more than it should: %s", change)
		}
	}
	wantChanges(t, c.Up(t))
	worksAgain(t, c)
}

// downWithoutLogin destroys as somebody whose key does not log in.
func downWithoutLogin(t *testing.T, c *cluster.Cluster) {
	hosts := []string{cluster.Controller, "gpu1", "gpu2"}
	for _, host := range hosts {
		c.On(t, host, "mv /root/.ssh/authorized_keys /root/.ssh/kept")
	}
	refuses(t, c, func() {
		for _, host := range hosts {
			c.On(t, host, "mv /root/.ssh/kept /root/.ssh/authorized_keys")
		}
	}, "nobody can tell whether jobs run", cluster.Controller+": no login over SSH", "load the key that logs in")
}

// downWithoutSlurmctld destroys while slurmctld is down and a job runs.
func downWithoutSlurmctld(t *testing.T, c *cluster.Cluster) {
	job := c.SubmitOpen(t, "alice", "-w gpu1 --gres=gpu:1 -t 30")
	c.WaitRunning(t, job)
	if run := c.TryDown(t); run.Err == nil || !run.Says("jobs are on the cluster (1)") {
		t.Fatalf("destroy while a job runs ends with %v:\n%s", run.Err, run.Output)
	}
	c.On(t, cluster.Controller, "systemctl stop slurmctld")
	refuses(t, c, func() {
		c.On(t, cluster.Controller, "systemctl start slurmctld")
		// It asks the hosts by and by; an up in between would try those again that it has not heard of.
		cluster.Until(t, "slurmctld to hear of its hosts", time.Minute, func() error {
			out, err := c.TryOn(t, cluster.Controller, "sinfo -h -N -o %T")
			if err == nil && strings.Contains(out, "unknown") {
				err = errors.New(out)
			}
			return err
		})
		c.WaitRunning(t, job)
		c.EndJob(t, "alice", job)
	},
		"slurmctld does not answer on "+cluster.Controller, "GPUCLUSTER_DESTROY_RUNNING_JOBS=yes")
	c.WaitJob(t, job, 2*time.Minute, "COMPLETED")
}

func downWithoutController(t *testing.T, c *cluster.Cluster) {
	c.Docker(t, "rm", "-f", "-v", c.Container(cluster.Controller))
	c.Down(t)
	if left := c.Left(t); left != "" {
		t.Errorf("after destroy there is still:\n%s", left)
	}
}
