package e2e

import (
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/tests/e2e/cluster"
)

// fillDisk puts a small file system under slurmctld's state and fills it.
func fillDisk(t *testing.T, c *cluster.Cluster) {
	const state = "/var/spool/slurmctld"
	c.On(t, cluster.Controller, `set -e
systemctl stop slurmctld
cp -a `+state+` /var/tmp/state
mount -t tmpfs -o size=2m,mode=0700 tmpfs `+state+`
chown --reference=/var/tmp/state `+state+`
cp -a /var/tmp/state/. `+state+`
systemctl start slurmctld`)
	back := func() {
		_, err := c.TryOn(t, cluster.Controller, `set -e
mountpoint -q `+state+` || exit 0
systemctl stop slurmctld
cp -a `+state+`/. /var/tmp/state
umount `+state+`
cp -a /var/tmp/state/. `+state+`
rm -rf /var/tmp/state
systemctl start slurmctld`)
		if err != nil {
			t.Errorf("taking the small file system away: %v", err)
		}
	}
	defer back()
	cluster.Until(t, "slurmctld to answer", time.Minute, func() error {
		_, err := c.TryOn(t, cluster.Controller, "scontrol ping | grep 'is UP'")
		return err
	})
	c.On(t, cluster.Controller, "dd if=/dev/zero of="+state+"/filler bs=4k 2>/dev/null; df "+state+" | grep 100%")
	id, err := c.TrySubmit(t, "alice", "--gres=gpu:1 -t 5 -w gpu1", "sleep 1")
	t.Logf("with a full disk a job is accepted: %v %v", id, err)
	run := c.TryUp(t)
	t.Logf("with a full disk up ends with %v:\n%s", run.Err, run.Output)
	if run.Err == nil {
		t.Error("with a full disk up reports success")
	}
	wantSays(t, run, state, "full")
	log := c.On(t, cluster.Controller, "journalctl -u slurmctld --no-pager -n 40 | grep -i 'space left' | tail -n 2")
	t.Logf("slurmctld says: %s", log)

	c.On(t, cluster.Controller, "rm "+state+"/filler")
	heals(t, c)
	if err == nil {
		c.WaitJob(t, id, 2*time.Minute, "COMPLETED")
	}
	back()
	heals(t, c)
}
