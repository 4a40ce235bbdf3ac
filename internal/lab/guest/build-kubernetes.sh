#!/bin/sh
# Runs in a container of the image below and adds what a host of a Kubernetes cluster
# takes from Debian. Arguments: packages to install. LAB_SOURCES is apt's sources.list.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8

printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/gpucluster-lab-build

printf '%s' "$LAB_SOURCES" >/etc/apt/sources.list
apt-get install -qy -o APT::Keep-Downloaded-Packages=true "$@"
systemctl disable containerd haproxy

# The lab's init looks for it.
mkdir -p /usr/local/lib/gpucluster-lab
: >/usr/local/lib/gpucluster-lab/kubernetes
rm -f /usr/sbin/policy-rc.d /etc/dpkg/dpkg.cfg.d/gpucluster-lab-build
rm -rf /tmp/* /var/tmp/* /var/log/apt /var/log/dpkg.log
