#!/bin/sh
# prolog.sh: written by gpucluster. The next run replaces it: change the environment file.
# slurmd runs it as root on each host of a job, before the job. It runs what this
# host has in /etc/slurm/prolog.d, in the order of the names; the first
# failure ends it, and Slurm then drains the host.
set -u
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
for script in /etc/slurm/prolog.d/*; do
	if [ -f "$script" ] && [ -x "$script" ]; then
		"$script" || {
			status=$?
			echo "prolog: $script ended with $status" >&2
			exit "$status"
		}
	fi
done
exit 0
