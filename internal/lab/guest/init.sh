#!/bin/sh
# PID 1 of a lab host until systemd takes over: gives the container what a server's kernel
# would have set up, at each boot.

# Docker mounts the cgroup file systems read-only. systemd, slurmd and kubelet manage
# groups of their own below the container's.
mount -o remount,bind,rw /sys/fs/cgroup 2>/dev/null
for controller in /sys/fs/cgroup/*; do
	if mountpoint -q "$controller"; then
		mount -o remount,bind,rw "$controller"
	fi
done

# Mounts made by one service are seen by the others, as on a server.
mount --make-rshared /

# A boot has an id of its own; the kernel only knows that of the machine.
cat /proc/sys/kernel/random/uuid >/run/gpucluster-lab-boot-id
mount --bind /run/gpucluster-lab-boot-id /proc/sys/kernel/random/boot_id

/usr/local/lib/gpucluster-lab/devices

# What a member of a Kubernetes cluster needs beyond that.
if [ -e /usr/local/lib/gpucluster-lab/kubernetes ]; then
	# kubelet reads the kernel's messages, and does not start without them.
	[ -c /dev/kmsg ] || mknod -m 600 /dev/kmsg c 1 11
	# It sets these for the whole kernel, which is the machine's: the host has its own copies.
	mkdir -p /run/gpucluster-lab-sysctl
	for setting in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys \
		kernel/keys/root_maxbytes; do
		copy=/run/gpucluster-lab-sysctl/${setting##*/}
		cat "/proc/sys/$setting" >"$copy" && mount --bind "$copy" "/proc/sys/$setting"
	done
fi

# From version 256 on systemd boots on cgroup v1 only when told so; elsewhere the word has
# no effect.
exec /sbin/init SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1
