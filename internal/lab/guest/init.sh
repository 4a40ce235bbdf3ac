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

# From version 256 on systemd boots on cgroup v1 only when told so; elsewhere the word has
# no effect.
exec /sbin/init SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1
