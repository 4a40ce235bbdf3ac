#!/bin/sh
# Makes /dev of a lab host what /etc/gpucluster-lab/devices says, and the nvidia-smi command
# exist only where there are GPUs. Runs at each boot and after each change of the list.
set -eu
list=/etc/gpucluster-lab/devices

# A boot and a change may run this at the same time.
exec 9<"$list"
flock 9

for node in /dev/nvidia*; do
	if [ -c "$node" ] && ! grep -q "^$node " "$list"; then
		rm -f "$node"
	fi
done
while read -r path major minor mode; do
	if [ ! -c "$path" ]; then
		rm -f "$path"
		mknod "$path" c "$major" "$minor"
	fi
	chmod "$mode" "$path"
done <"$list"

stand_in=/usr/local/lib/gpucluster-lab/nvidia-smi
if grep -q '^/dev/nvidia[0-9]' "$list"; then
	ln -sf "$stand_in" /usr/bin/nvidia-smi
elif [ "$(readlink /usr/bin/nvidia-smi)" = "$stand_in" ]; then
	rm -f /usr/bin/nvidia-smi
fi
