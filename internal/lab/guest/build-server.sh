#!/bin/sh
# Runs in a container of the bare release and turns it into a server whose daemons all wait
# to be told. Arguments: packages to install. LAB_SOURCES is apt's sources.list.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

# Nothing starts while packages are installed, and dpkg does not sync each file: the image
# is committed as a whole or not at all.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/gpucluster-lab-build

rm -rf /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf.d/docker-clean
mkdir -p /etc/apt/sources.list.d
printf '%s' "$LAB_SOURCES" >/etc/apt/sources.list
cat >/etc/apt/apt.conf.d/50gpucluster-lab <<'CONF'
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::GzipIndexes "true";
Acquire::Check-Valid-Until "false";
DPkg::Lock::Timeout "300";
CONF
apt-get update -q
apt-get install -qy -o APT::Keep-Downloaded-Packages=true "$@"

# A user beside root for those who want to come in without being root. Its key and its
# rights are given when a host is made.
useradd --system --uid 890 --user-group --create-home --shell /bin/bash --password '*' ops

# Every daemon but sshd waits for whoever owns its role.
for unit in chrony cron glusterd mariadb munge nftables rsync remote-fs.target apt-daily.timer apt-daily-upgrade.timer \
	dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap fstrim.timer xfs_scrub_all.timer getty@tty1; do
	systemctl disable "$unit" 2>/dev/null || true
done
# Masked is what would reach through to the machine's own kernel and devices, which all
# containers share (sysctl, modules, udev), and what only costs time at each boot.
systemctl mask -q systemd-sysctl.service systemd-modules-load.service modprobe@.service systemd-udevd.service \
	systemd-udev-trigger.service systemd-binfmt.service proc-sys-fs-binfmt_misc.automount systemd-random-seed.service \
	systemd-pstore.service systemd-remount-fs.service systemd-tmpfiles-setup-dev.service \
	systemd-tmpfiles-setup-dev-early.service dev-hugepages.mount sys-kernel-debug.mount sys-kernel-tracing.mount \
	sys-kernel-config.mount sys-fs-fuse-connections.mount systemd-logind.service getty.target console-getty.service \
	ldconfig.service systemd-sysusers.service systemd-journal-catalog-update.service systemd-update-done.service \
	systemd-firstboot.service sshd-keygen.service
systemctl enable -q ssh

# The clock is the machine's own: chronyd runs and answers, but never sets it.
mkdir -p /etc/systemd/system/chrony.service.d
cat >/etc/systemd/system/chrony.service.d/gpucluster-lab.conf <<'UNIT'
[Unit]
ConditionCapability=

[Service]
ExecStart=
ExecStart=!/usr/sbin/chronyd $DAEMON_OPTS -x
UNIT

# glusterd runs its geo-replication program some twenty times whenever it starts: 20 s and
# more on a small machine. The lab has one site.
dpkg-divert --quiet --rename --add "$(echo /usr/lib/*/glusterfs/gsyncd)"
mkdir -p /etc/systemd/journald.conf.d
printf '[Journal]\nStorage=persistent\nSystemMaxUse=64M\nReadKMsg=no\n' >/etc/systemd/journald.conf.d/gpucluster-lab.conf
# All connections to a lab host come from one address, many at a time.
printf 'UseDNS no\nMaxStartups 200\nMaxSessions 100\n' >/etc/ssh/sshd_config.d/gpucluster-lab.conf
if ! grep -q bookworm /etc/os-release; then
	echo 'PerSourcePenalties no' >>/etc/ssh/sshd_config.d/gpucluster-lab.conf
fi

# Nothing that must differ between hosts, and no secret, is in the image.
rm -f /etc/ssh/ssh_host_* /etc/munge/munge.key /var/lib/dbus/machine-id /var/lib/systemd/random-seed
: >/etc/machine-id
rm -f /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/gpucluster-lab-build
rm -rf /tmp/* /var/tmp/* /var/log/apt /var/log/dpkg.log /var/log/journal/*
