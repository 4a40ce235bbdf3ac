#!/bin/sh
# Runs in a container of the server image and adds Slurm. Arguments: packages to install.
# LAB_SOURCES is apt's sources.list; LAB_TARGET is a release to take the packages from
# when it is not the host's own.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/gpucluster-lab-build

printf '%s' "$LAB_SOURCES" >/etc/apt/sources.list
if [ -n "${LAB_TARGET:-}" ]; then
	# The other release is there for what is asked from it by name, and for Slurm's own
	# packages, so that a later `apt-get install slurmd` means the same version.
	cat >/etc/apt/preferences.d/gpucluster-lab <<PREF
Package: *
Pin: release n=$LAB_TARGET
Pin-Priority: 100

Package: slurm* sackd libslurm* libpam-slurm*
Pin: release n=$LAB_TARGET
Pin-Priority: 600
PREF
	apt-get update -q
	apt-get install -qy -o APT::Keep-Downloaded-Packages=true -t "$LAB_TARGET" "$@"
else
	apt-get install -qy -o APT::Keep-Downloaded-Packages=true "$@"
fi

for unit in slurmctld slurmd slurmdbd slurmrestd sackd munge containerd docker; do
	systemctl disable "$unit" 2>/dev/null || true
done
rm -f /etc/munge/munge.key /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/gpucluster-lab-build
rm -rf /tmp/* /var/tmp/* /var/log/apt /var/log/dpkg.log
