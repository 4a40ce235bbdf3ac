package playbook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
)

// What a site has on its hosts already is neither replaced nor removed.
func TestWhatTheSiteHas(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, lab.ImageSpec{Slurm: "24.11"}, "site")
	t.Run("a MUNGE key", func(t *testing.T) { w.of(t).siteKey() })
	t.Run("storage for the state", func(t *testing.T) { w.of(t).siteStorage() })
	t.Run("a mounted home", func(t *testing.T) { w.of(t).siteHome() })
	t.Run("a clock", func(t *testing.T) { w.of(t).siteClock() })
	t.Run("a database server", func(t *testing.T) { w.of(t).siteDatabase() })
}

// of is the world for a subtest.
func (w world) of(t *testing.T) *world {
	w.t = t
	return &w
}

// refused runs a playbook that must fail with every one of the texts.
func (w *world) refused(book playbook.Playbook, groups map[string][]string, v, secrets vars, texts ...string) {
	w.t.Helper()
	_, err := w.run(book, groups, v, secrets)
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			w.t.Errorf("%s: the report lacks %q: %v", book, text, err)
		}
	}
}

// siteKey covers every key that a host may hold: the site's, the one that Debian
// makes, ours, an earlier one of ours.
func (w *world) siteKey() {
	const digest = "sha256sum </etc/munge/munge.key"
	v, secrets := vars{"slurm_packages_version": w.release, "slurm_compute_conf_servers": []string{"ctl1"}}, vars{"munge_key": w.munge}
	w.on("gpu1", "/usr/sbin/mungekey --create && chown munge: /etc/munge/munge.key && systemctl start munge")
	site := w.on("gpu1", digest)
	w.refused(playbook.Controller, only("gpu1"), vars{"slurm_packages_version": w.release}, secrets,
		"/etc/munge/munge.key: exists and is not ours; move it away, or take its content over into the environment")
	w.want("gpu1", digest, site)
	if _, err := w.run(playbook.ControllerRemove, only("gpu1"), nil, nil); err != nil {
		w.t.Error(err)
	}
	w.want("gpu1", digest+"; systemctl is-active munge", site+"\nactive")

	// The package was not there: the key that comes with it is nobody's. Half
	// way the host was reset.
	w.on("gpu1", "apt-get purge -qy munge && rm -rf /etc/munge && apt-get update -q")
	w.on("gpu1", `printf '#!/bin/sh\n# written by gpucluster, for as long as it installs packages\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d`)
	w.twice(playbook.Controller, only("gpu1"), vars{"slurm_packages_version": w.release}, secrets)
	w.want("gpu1", "base64 -w0 /etc/munge/munge.key; ls /usr/sbin/policy-rc.d 2>/dev/null; stat -c ' %a %U' /var/lib/gpucluster/placed/* | sort -u", w.munge+" 600 root")

	w.twice(playbook.Controller, only("gpu1"), vars{"slurm_packages_version": w.release}, vars{"munge_key": w.otherMunge()})
	w.on("gpu1", "/usr/sbin/mungekey --create --force && chown munge: /etc/munge/munge.key")
	site = w.on("gpu1", digest)
	w.refused(playbook.Compute, only("gpu1"), v, secrets, "/etc/munge/munge.key: exists and is not ours")
	if _, err := w.run(playbook.ControllerRemove, only("gpu1"), nil, nil); err != nil {
		w.t.Error(err)
	}
	w.want("gpu1", digest, site)
}

// otherMunge is another key of the cluster.
func (w *world) otherMunge() string { return w.munge[4:] }

// siteStorage keeps the controller's state on a mount: slurmctld does not start
// without it, on an empty folder, and comes up when it is back.
func (w *world) siteStorage() {
	const state = "/shared/slurmctld"
	v, secrets := vars{"slurm_packages_version": w.release, "slurm_controller_state_dir": state, "slurm_controller_shared": true}, vars{"munge_key": w.munge}
	w.refused(playbook.Controller, only("ctl1"), v, secrets, state+" is on the host's own disk")
	w.want("ctl1", "ls -d /shared 2>/dev/null || true", "")

	w.on("ctl1", "mkdir -p /shared /srv/pool && mount -t tmpfs pool /srv/pool && mount --bind /srv/pool /shared")
	w.twice(playbook.Controller, only("ctl1"), v, secrets)
	w.want("ctl1", "grep -c '^ExecStartPre=/usr/bin/mountpoint -q /shared$' /etc/systemd/system/slurmctld.service.d/gpucluster.conf", "1")
	w.startControllerWith("StateSaveLocation=" + state)
	w.on("ctl1", "systemctl stop slurmctld && umount /shared && systemctl start --no-block slurmctld")
	w.await("ctl1", "systemctl show -p NRestarts --value slurmctld | grep -c '^[1-9]'", "1", 30*time.Second)
	w.want("ctl1", "ls -A /shared; pgrep -x slurmctld || true", "")
	w.on("ctl1", "mount --bind /srv/pool /shared")
	w.await("ctl1", "scontrol ping | grep -c UP", "1", 30*time.Second)

	v["slurm_controller_require_mount"] = "/home"
	w.twice(playbook.Controller, only("ctl1"), v, secrets)
	w.want("ctl1", "grep -c '^ExecStartPre=/usr/bin/mountpoint -q /home$' /etc/systemd/system/slurmctld.service.d/gpucluster.conf", "1")
	w.on("ctl1", "systemctl stop slurmctld; rm -f /etc/slurm/*.conf; umount /shared")
}

// siteHome is a tree that the site mounts: the toolkit looks, and mounts nothing.
func (w *world) siteHome() {
	clients := map[string][]string{"clients": {"gpu1"}}
	v := vars{"shared_home_kind": "existing", "shared_home_path": "/srv/people"}
	w.on("gpu1", "mkdir -p /srv/people")
	w.refused(playbook.SharedHome, clients, v, nil, "Check that the tree is mounted", "/srv/people is not mounted, or its server does not answer")
	w.on("gpu1", "mount -t tmpfs none /srv/people")
	w.unchanged(playbook.SharedHome, clients, v)
}

// siteClock has a service that keeps the clock, or the package of one. The real
// ones would set the clock of the machine.
func (w *world) siteClock() {
	w.on("gpu1", "rm -f /.dockerenv /run/systemd/container; systemctl disable -q --now chrony")
	w.on("gpu1", `printf '[Service]\nExecStart=/bin/sleep inf\n' >/run/systemd/system/ntpsec.service && systemctl daemon-reload && systemctl start ntpsec`)
	clock := vars{"host_baseline_packages": []string{}}
	w.unchanged(playbook.Baseline, only("gpu1"), clock)
	w.want("gpu1", "systemctl is-active chrony ntpsec || true", "inactive\nactive")

	w.on("gpu1", "systemctl stop ntpsec && rm /run/systemd/system/ntpsec.service && systemctl daemon-reload")
	w.twice(playbook.Baseline, only("gpu1"), clock, nil)
	w.want("gpu1", "systemctl is-enabled chrony; systemctl is-active chrony", "enabled\nactive")

	w.on("gpu1", `printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
systemctl stop chrony && apt-get update -q && apt-get install -qy --no-install-recommends ntpsec && systemctl is-active ntpsec || rm /usr/sbin/policy-rc.d`)
	w.refused(playbook.Baseline, only("gpu1"), clock, nil, "apt-get would remove ntpsec to install chrony")
	w.want("gpu1", "dpkg-query -W -f '${db:Status-Abbrev}' ntpsec", "ii")
}

// siteDatabase has a MariaDB of its own.
func (w *world) siteDatabase() {
	v := vars{"slurm_packages_version": w.release, "mariadb_buffer_pool_mib": 64}
	secrets := vars{"munge_key": w.munge, "mariadb_password": w.dbPlain(), "slurm_database_conf": "# slurmdbd.conf: written by gpucluster.\n"}
	w.on("ctl1", `systemctl start mariadb && mariadb -e 'CREATE DATABASE payroll; CREATE DATABASE slurm_acct_db'
printf '[mariadbd]\nbind-address = 0.0.0.0\n' >/etc/mysql/mariadb.conf.d/90-site.cnf && echo '# ours' >>/etc/mysql/mariadb.conf.d/50-server.cnf`)
	started := "systemctl show -p MainPID --value mariadb"
	before := w.on("ctl1", started)
	w.refused(playbook.Database, only("ctl1"), v, secrets, "MariaDB on this host is the site's: it holds the databases payroll and it is configured by "+
		"/etc/mysql/mariadb.conf.d/50-server.cnf, /etc/mysql/mariadb.conf.d/90-site.cnf; have slurmdbd use it as it is with slurm.database.mariadb")
	w.want("ctl1", started, before)
}

// unchanged runs a playbook that has nothing to do.
func (w *world) unchanged(book playbook.Playbook, groups map[string][]string, v vars) {
	w.t.Helper()
	result, err := w.run(book, groups, v, nil)
	if err != nil || result.Changes() > 0 {
		w.t.Errorf("%s: %d changes, %v", book, result.Changes(), err)
	}
}
