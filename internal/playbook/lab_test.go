package playbook_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/playbook"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

var people = []vars{{"name": "alice", "uid": 20001, "group": "research", "shell": "/bin/bash", "home": "/home/alice"}}

func both() map[string][]string         { return map[string][]string{"hosts": {"ctl1", "gpu1"}} }
func only(h string) map[string][]string { return map[string][]string{"hosts": {h}} }

func TestPlaybooksOnLabHosts(t *testing.T) {
	t.Parallel()
	for release, debian := range map[string]string{"24.11": "debian trixie", "26.05": "debian trixie", "22.05": "debian bookworm"} {
		t.Run(release, func(t *testing.T) {
			t.Parallel() // much of the time is waiting
			w := newWorld(t, release)
			w.baseline(debian)
			w.sharedHome()
			w.cluster()
			w.otherPart()
			w.recovery()
			if release == "24.11" {
				w.interruption()
				w.sharedHost()
				w.password()
				w.names()
			}
			w.secretsStayHidden()
			w.removal()
		})
	}
}

func (w *world) baseline(debian string) {
	w.t.Helper()
	v := vars{
		"host_baseline_distribution": debian,
		"host_baseline_simulated":    lab.HardwareFile,
		"host_baseline_groups":       []vars{{"name": "research", "gid": 20001}},
		"host_baseline_users":        people,
		"host_baseline_hardware": vars{"gpu1": vars{"sockets": 2, "cores_per_socket": 4, "threads_per_core": 2,
			"memory_mib": 65536, "usable_memory_mib": 62259, "gpus": []vars{{"type": "h100", "count": 2}}}},
	}
	planned, err := playbook.Run(w.t.Context(), w.session, playbook.Baseline, playbook.Request{Groups: only("gpu1"), Vars: v, Check: true})
	if err != nil || planned.Changes() == 0 {
		w.t.Errorf("check mode plans %d changes, %v", planned.Changes(), err)
	}
	w.want("gpu1", "id -u alice 2>/dev/null || echo nobody", "nobody")
	w.twice(playbook.Baseline, both(), v, nil)
	w.want("gpu1", "id alice", "uid=20001(alice) gid=20001(research) groups=20001(research)")

	if w.release != "24.11" {
		return // what is refused does not depend on the release
	}
	v["host_baseline_hardware"] = vars{"gpu1": vars{"sockets": 4, "cores_per_socket": 8, "threads_per_core": 1,
		"memory_mib": 131072, "usable_memory_mib": 124518, "gpus": []vars{{"type": "a100", "count": 4}}}}
	v["host_baseline_distribution"] = "debian sid"
	_, err = w.run(playbook.Baseline, only("gpu1"), v, nil)
	if err == nil {
		w.t.Fatal("a host that differs in everything was accepted")
	}
	for _, want := range []string{"declared the release debian sid, found " + debian, "declared 4 sockets, found 2", "declared 8 cores per socket, found 4",
		"declared 1 threads per core, found 2", "declared 124518 MiB of usable memory, found 65536 MiB",
		"declared 4 GPUs of type a100, found 2: no /dev/nvidia2, /dev/nvidia3", "declared GPUs of type a100, found "} {
		if !strings.Contains(err.Error(), want) {
			w.t.Errorf("the report lacks %q:\n%v", want, err)
		}
	}

	taken := vars{"host_baseline_users": []vars{{"name": "bob", "uid": 20001, "group": "research"}}, "host_baseline_groups": []vars{{"name": "research", "gid": 20009}}}
	_, err = w.run(playbook.Baseline, both(), taken, nil)
	for _, want := range []string{"ctl1: ", "gpu1: ", "group research has id 20001 here, 20009 is declared", "id 20001 of user bob belongs to alice here"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			w.t.Errorf("the report lacks %q: %v", want, err)
		}
	}
}

func (w *world) sharedHome() {
	v := vars{"shared_home_kind": "glusterfs", "shared_home_path": "/home", "shared_home_server": "ctl1", "shared_home_users": people}
	groups := map[string][]string{"storage": {"ctl1"}, "clients": {"ctl1", "gpu1"}, "homes": {"ctl1"}}
	if target, _ := w.session.Target("gpu1"); target.User != "root" {
		_, err := w.run(playbook.SharedHome, groups, v, nil)
		if err == nil || !strings.Contains(err.Error(), "logs in as ops, whose home /home/ops would be hidden") {
			w.t.Errorf("a mount that locks the toolkit out gives %v", err)
		}
		w.on("gpu1", "cp -a /home/ops /var/lib/ops && sed -i s,:/home/ops:,:/var/lib/ops:, /etc/passwd")
	}
	w.twice(playbook.SharedHome, groups, v, nil)
	w.on("ctl1", "su alice -c 'echo hello >~/greeting'")
	w.want("gpu1", "cat /home/alice/greeting; stat -c '%a %U' /home/alice", "hello\n700 alice")
}

func (w *world) cluster() {
	secrets := vars{"munge_key": w.munge}
	base := func(more vars) vars {
		v := vars{"slurm_packages_version": w.release}
		for k, x := range more {
			v[k] = x
		}
		return v
	}
	dbd := strings.Join([]string{"# slurmdbd.conf: written by gpucluster.", "DbdHost=ctl1", "SlurmUser=slurm", "AuthType=auth/munge",
		"StorageType=accounting_storage/mysql", "StorageHost=localhost", "StorageUser=slurm", "StorageLoc=slurm_acct_db", "StoragePass=" + w.dbPlain(), ""}, "\n")
	w.twice(playbook.Database, only("ctl1"), base(vars{"mariadb_buffer_pool_mib": 64}),
		vars{"munge_key": w.munge, "mariadb_password": w.dbPlain(), "slurm_database_conf": dbd})
	w.want("ctl1", "stat -c '%a %U' /etc/slurm/slurmdbd.conf /etc/munge/munge.key", "600 slurm\n400 munge")

	w.twice(playbook.Controller, only("ctl1"), base(nil), secrets)
	w.want("ctl1", "systemctl is-enabled slurmctld; stat -c '%a %U' /var/spool/slurmctld", "enabled\n700 slurm")
	w.startController()

	login := vars{"slurm_login_authorized_keys": vars{"alice": []string{w.people.Public + " alice"}}}
	if w.release != "22.05" {
		login["slurm_login_conf_servers"] = []string{"ctl1"}
	} else {
		login["slurm_login_files"] = []vars{{"path": "/etc/slurm/slurm.conf", "content": w.on("ctl1", "cat /etc/slurm/slurm.conf") + "\n"}}
	}
	w.twice(playbook.Login, only("gpu1"), base(login), secrets)
	w.want("gpu1", "scontrol ping | grep -c UP", "1")
	w.keysLetIn()
	w.twice(playbook.LoginRemove, only("gpu1"), nil, nil)
	w.want("gpu1", "ls -A /etc/ssh/authorized_keys.d /etc/munge; ls /etc/ssh/sshd_config.d/gpucluster.conf /etc/slurm/slurm.conf 2>/dev/null; systemctl is-active munge sackd || true", "/etc/munge:\n\n/etc/ssh/authorized_keys.d:\ninactive\ninactive")

	// An administrator's file is neither overwritten nor removed.
	w.on("gpu1", "echo 'ClusterName=other' >/etc/slurm/slurm.conf")
	compute := vars{"slurm_compute_conf_servers": []string{"ctl1"}, "slurm_compute_require_mount": "/home",
		"slurm_compute_files": []vars{{"path": "/etc/slurm/slurm.conf", "content": "# slurm.conf: written by gpucluster.\n"}}}
	_, err := w.run(playbook.Compute, only("gpu1"), base(compute), secrets)
	if err == nil || !strings.Contains(err.Error(), "/etc/slurm/slurm.conf: exists and is not ours") {
		w.t.Errorf("S79: a foreign slurm.conf was not refused: %v", err)
	}
	w.want("gpu1", "cat /etc/slurm/slurm.conf; rm /etc/slurm/slurm.conf", "ClusterName=other")

	delete(compute, "slurm_compute_files")
	w.twice(playbook.Compute, only("gpu1"), base(compute), secrets)
	w.await("ctl1", "sinfo -h -N -n gpu1 -o %t", "idle", 30*time.Second)
	w.want("ctl1", "srun -N1 -w gpu1 --gres=gpu:h100:2 sh -c 'hostname; echo $CUDA_VISIBLE_DEVICES'", "gpu1\n0,1")
	w.want("ctl1", "su alice -c 'cd && srun -N1 cat greeting'", "hello")
	w.await("ctl1", "sacctmgr -nP show cluster format=cluster", "pb", 30*time.Second)
}

// otherPart makes a compute host a login host too, then only that, and takes it
// back. The removal of the one part leaves the other what it needs.
func (w *world) otherPart() {
	w.t.Helper()
	secrets := vars{"munge_key": w.munge}
	version := vars{"slurm_packages_version": w.release}
	compute := vars{"slurm_packages_version": w.release, "slurm_compute_conf_servers": []string{"ctl1"}, "slurm_compute_require_mount": "/home"}
	login := vars{"slurm_packages_version": w.release, "slurm_login_own_config": false}
	conf := "/run/slurm/conf/slurm.conf"
	if w.release != "22.05" {
		login["slurm_login_conf_servers"] = []string{"ctl1"}
	} else {
		conf = "/etc/slurm/slurm.conf"
		login["slurm_login_files"] = []vars{{"path": conf, "content": w.on("ctl1", "cat /etc/slurm/slurm.conf") + "\n"}}
	}
	play := func(book playbook.Playbook, v, secrets vars) {
		w.t.Helper()
		if _, err := w.run(book, only("gpu1"), v, secrets); err != nil {
			w.t.Fatal(err)
		}
	}
	const daemons = "systemctl is-active slurmd sackd munge || true"

	play(playbook.Login, login, secrets)
	w.want("gpu1", daemons, "active\ninactive\nactive")

	login["slurm_login_own_config"] = true
	w.twice(playbook.Login, only("gpu1"), login, secrets)
	play(playbook.ComputeRemove, version, nil)
	sackd := "active"
	if w.release == "22.05" {
		sackd = "inactive"
	}
	w.want("gpu1", daemons, "inactive\n"+sackd+"\nactive")
	w.want("gpu1", "scontrol ping | grep -c UP", "1")
	w.on("gpu1", "rm "+conf)
	w.twice(playbook.Login, only("gpu1"), login, secrets)
	w.want("gpu1", "scontrol ping | grep -c UP", "1")

	// slurmd comes at the same time, and sackd would take its port.
	w.on("gpu1", "systemctl stop sackd || true")
	login["slurm_login_own_config"] = false
	play(playbook.Login, login, secrets)
	w.want("gpu1", daemons, "inactive\ninactive\nactive")

	play(playbook.Compute, compute, secrets)
	play(playbook.LoginRemove, version, nil)
	w.want("gpu1", daemons+"; ls /var/lib/gpucluster/login 2>/dev/null || true", "active\ninactive\nactive")
	w.await("ctl1", "sinfo -h -N -n gpu1 -o %t", "idle", 30*time.Second)
}

// keysLetIn logs in with a person's declared key, which is in no file of theirs.
func (w *world) keysLetIn() {
	w.t.Helper()
	target, _ := w.session.Target("gpu1")
	target.User = "alice"
	for key, want := range map[string]bool{w.people.Private: true, w.stranger.Private: false} {
		s, err := remote.Open(w.t.Context(), remote.Config{Targets: []remote.Target{target}, PrivateKey: key})
		if err != nil {
			w.t.Fatal(err)
		}
		_, err = s.Run(w.t.Context(), "gpu1", "true", nil)
		// alice may log in and may not become root.
		in := err != nil && !remote.IsUnreachable(err) && strings.Contains(err.Error(), "sudo")
		if in != want {
			w.t.Errorf("login is %v, want %v: %v", in, want, err)
		}
		_ = s.Close()
	}
}

// startController gives slurmctld a configuration, which is not the role's to do.
func (w *world) startController() {
	w.t.Helper()
	w.startControllerWith("StateSaveLocation=/var/spool/slurmctld", "AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=ctl1")
}

// startControllerWith adds lines of the test.
func (w *world) startControllerWith(lines ...string) {
	w.t.Helper()
	conf := strings.Join([]string{"# slurm.conf: written by gpucluster.", "ClusterName=pb", "SlurmctldHost=ctl1", "SlurmUser=slurm",
		"SlurmdSpoolDir=/var/spool/slurmd", "AuthType=auth/munge", "SlurmctldParameters=enable_configless",
		"SlurmdParameters=config_overrides", "ReturnToService=2", "SelectType=select/cons_tres", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
		"GresTypes=gpu", strings.Join(lines, "\n"),
		"NodeName=gpu1 CPUs=16 RealMemory=62259 Gres=gpu:h100:2", "PartitionName=p Nodes=ALL Default=YES", ""}, "\n")
	write := func(path, text string) {
		if _, err := w.session.Run(w.t.Context(), "ctl1", "cat >"+path, []byte(text)); err != nil {
			w.t.Fatal(err)
		}
	}
	write("/etc/slurm/slurm.conf", conf)
	write("/etc/slurm/gres.conf", "# gres.conf: written by gpucluster.\nName=gpu Type=h100 File=/dev/nvidia[0-1]\n")
	cgroup := "# cgroup.conf: written by gpucluster.\n"
	if w.release != "22.05" {
		cgroup += "CgroupPlugin=disabled\n"
	}
	write("/etc/slurm/cgroup.conf", cgroup)
	w.on("ctl1", "systemctl start slurmctld")
	w.await("ctl1", "scontrol ping | grep -c UP", "1", 30*time.Second)
}

// recovery kills each daemon; all of them come back by themselves.
func (w *world) recovery() {
	for _, d := range []struct{ host, unit, process string }{
		{"ctl1", "munge", "munged"}, {"ctl1", "mariadb", "mariadbd"}, {"ctl1", "slurmdbd", "slurmdbd"}, {"ctl1", "slurmctld", "slurmctld"},
		{"gpu1", "munge", "munged"}, {"gpu1", "slurmd", "slurmd"}, {"gpu1", "gpucluster-home", "glusterfs"},
	} {
		before := w.on(d.host, "systemctl show -p MainPID --value "+d.unit)
		w.on(d.host, "kill -9 "+before)
		w.await(d.host, fmt.Sprintf("test $(systemctl show -p MainPID --value %[1]s) != %[2]s && systemctl is-active %[1]s", d.unit, before), "active", 40*time.Second)
	}
	w.await("gpu1", "cat /home/alice/greeting", "hello", 20*time.Second)
	w.await("ctl1", "timeout 20 srun -N1 --gres=gpu:h100:2 hostname", "gpu1", 90*time.Second)
}

// secretsStayHidden looks for the secrets where they must not be.
func (w *world) secretsStayHidden() {
	for _, host := range []string{"ctl1", "gpu1"} {
		needle := w.munge[:40] + "\n" + w.dbPlain() + "\n" + w.dbPass
		script := "n=$(cat); journalctl -q --no-pager -o cat | grep -cF \"$n\"; grep -rlF \"$n\" /tmp /var/log /var/tmp /root 2>/dev/null; find / -xdev -newer /etc/machine-id -type f -perm -o=r -size -64k -print0 2>/dev/null | xargs -0 grep -lF \"$n\" 2>/dev/null; true"
		out, err := w.session.Run(w.t.Context(), host, script, []byte(needle))
		if err != nil {
			w.t.Fatal(err)
		}
		if strings.TrimSpace(out) != "0" {
			w.t.Errorf("%s: the MUNGE key shows: %s", host, out)
		}
	}
	entries, err := os.ReadDir(w.session.Dir())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "play-") {
			w.t.Errorf("the deployer keeps %s after the run", e.Name())
		}
	}
}

// ansibleProcesses are the processes that work in a folder of the session, as
// Ansible does.
func (w *world) ansibleProcesses() []string {
	var found []string
	folders, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, folder := range folders {
		if at, err := os.Readlink(folder); err == nil && strings.HasPrefix(at, w.session.Dir()+"/") {
			command, _ := os.ReadFile(filepath.Join(filepath.Dir(folder), "cmdline"))
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}

// interruption ends a run half way: nothing of it stays on the deployer, and
// the next run goes on.
func (w *world) interruption() {
	v, secrets := vars{"slurm_packages_version": w.release, "slurm_compute_conf_servers": []string{"ctl1"}, "slurm_compute_require_mount": "/home"}, vars{"munge_key": w.munge}
	why := errors.New("stopped by hand")
	ctx, cancel := context.WithCancelCause(w.t.Context())
	go func() {
		// A run with nothing to do takes little more than a second: it is stopped once Ansible is there.
		for ctx.Err() == nil && len(w.ansibleProcesses()) == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		cancel(why)
	}()
	_, err := playbook.Run(ctx, w.session, playbook.Compute, playbook.Request{Groups: only("gpu1"), Vars: v, SecretVars: secrets})
	if !errors.Is(err, why) {
		w.t.Errorf("an interrupted run gives %v", err)
	}
	for _, process := range w.ansibleProcesses() {
		w.t.Errorf("a process of the run is left: %s", process)
	}
	if left, _ := filepath.Glob(filepath.Join(w.session.Dir(), "play-*")); len(left) > 0 {
		w.t.Errorf("files of the run are left: %v", left)
	}
	if _, err := w.run(playbook.Compute, only("gpu1"), v, secrets); err != nil {
		w.t.Errorf("the next run fails: %v", err)
	}
}

// sharedHost gives the controller's host a second part and takes it back: the
// first part keeps its files and its key.
func (w *world) sharedHost() {
	secrets := vars{"munge_key": w.munge}
	look := "cat /etc/slurm/slurm.conf /etc/slurm/slurmdbd.conf /etc/munge/munge.key | sha256sum; systemctl is-active slurmctld slurmdbd munge"
	before := w.on("ctl1", look)
	login := vars{"slurm_packages_version": w.release, "slurm_login_conf_servers": []string{"ctl1"},
		"slurm_login_authorized_keys": vars{"alice": []string{w.people.Public}}}
	w.twice(playbook.Login, only("ctl1"), login, secrets)
	w.want("ctl1", look, before)
	w.twice(playbook.LoginRemove, only("ctl1"), login, nil)
	w.want("ctl1", look, before)
	if _, err := w.run(playbook.ComputeRemove, only("ctl1"), vars{"slurm_compute_mask": false}, nil); err != nil {
		w.t.Error(err)
	}
	w.want("ctl1", look, before)
}

// password gives a database to a user whose password is hard to quote, and
// changes it.
func (w *world) password() {
	conf := w.on("ctl1", "cat /etc/slurm/slurmdbd.conf") + "\n"
	v := vars{"slurm_packages_version": w.release, "mariadb_buffer_pool_mib": 64, "mariadb_user": "odd", "mariadb_database": "odd_db"}
	for _, password := range []string{"before", w.dbPass} {
		w.twice(playbook.Database, only("ctl1"), v, vars{"munge_key": w.munge, "mariadb_password": password, "slurm_database_conf": conf})
		script := `IFS= read -r p; MYSQL_PWD="$p" mariadb -u odd -N -e 'CREATE TABLE t (i INT); DROP TABLE t; SELECT DATABASE()' odd_db`
		out, err := w.session.Run(w.t.Context(), "ctl1", script, []byte(password+"\n"))
		if err != nil || strings.TrimSpace(out) != "odd_db" {
			w.t.Errorf("the user cannot use its database: %q, %v", out, err)
		}
	}
}

// names keeps a block in /etc/hosts and takes it back. The lab's own file is
// shared by all of its hosts, so the test works on a copy.
func (w *world) names() {
	w.on("gpu1", "cp /etc/hosts /root/hosts && mount --bind /root/hosts /etc/hosts")
	before := w.on("gpu1", "cat /etc/hosts")
	w.twice(playbook.Baseline, only("gpu1"), vars{"host_baseline_names": []string{"192.0.2.77 elsewhere"}}, nil)
	w.want("gpu1", "getent hosts elsewhere | cut -d' ' -f1", "192.0.2.77")
	w.twice(playbook.BaselineRemove, only("gpu1"), nil, nil)
	w.want("gpu1", "cat /etc/hosts", before)
	w.on("gpu1", "umount /etc/hosts")
}

// removed runs a removal, on one release twice.
func (w *world) removed(book playbook.Playbook, groups map[string][]string, v, secrets vars) {
	w.t.Helper()
	if w.release == "24.11" {
		w.twice(book, groups, v, secrets)
	} else if _, err := w.run(book, groups, v, secrets); err != nil {
		w.t.Error(err)
	}
}

func (w *world) removal() {
	w.removed(playbook.ComputeRemove, only("gpu1"), vars{"slurm_packages_version": w.release}, nil)
	w.want("gpu1", "systemctl is-enabled slurmd || true; ls -d /var/spool/slurmd /etc/munge/munge.key 2>/dev/null; systemctl is-active slurmd munge || true", "masked\ninactive\ninactive")
	groups := map[string][]string{"storage": {"ctl1"}, "clients": {"ctl1", "gpu1"}}
	w.removed(playbook.ControllerRemove, only("ctl1"), nil, nil)
	w.removed(playbook.DatabaseRemove, only("ctl1"), nil, nil)
	w.removed(playbook.SharedHomeRemove, groups, vars{"shared_home_kind": "glusterfs", "shared_home_server": "ctl1", "shared_home_delete_data": true}, nil)
	for _, host := range []string{"ctl1", "gpu1"} {
		left := w.on(host, "grep -rlF 'written by gpucluster' /etc 2>/dev/null; ls -d /srv/gpucluster/home 2>/dev/null; mount | grep glusterfs; true")
		if left != "" {
			w.t.Errorf("%s: removal left %s", host, left)
		}
	}
	units := strings.Fields(w.on("ctl1", "systemctl list-units --state=running --plain --no-legend --type=service | cut -d' ' -f1"))
	for _, u := range []string{"slurmctld.service", "slurmdbd.service", "munge.service", "gpucluster-home.service"} {
		if slices.Contains(units, u) {
			w.t.Errorf("%s still runs", u)
		}
	}
}
