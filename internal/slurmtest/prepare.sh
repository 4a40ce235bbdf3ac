#!/bin/sh
# Makes the layers that the real-daemon tests put above the Debian root file
# systems of /var/cache/gpucluster/judge: what a controller with a database has
# besides Slurm. Needs root rights and a Debian mirror; does nothing where a layer exists.
set -eu

roots=/var/cache/gpucluster/judge
layers=/var/cache/gpucluster/slurmtest

for suite in trixie forky; do
	layer=$layers/$suite
	[ -d "$roots/$suite" ] || continue
	[ -d "$layer" ] && continue
	echo "making $layer"
	mkdir -p "$layers"
	scratch=$(mktemp -d "$layers/.new-XXXXXX")
	# The mounts live in a namespace of their own and go with it.
	# shellcheck disable=SC2016 # the inner shell expands its own arguments
	unshare --mount --fork sh -eu -c '
		suite=$1 scratch=$2 root=$3
		mkdir "$scratch/upper" "$scratch/work" "$scratch/root"
		mount -t overlay overlay -o "lowerdir=$root,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/root"
		mount -t proc proc "$scratch/root/proc"
		mount --rbind /dev "$scratch/root/dev"
		cp -L /etc/resolv.conf /etc/hosts "$scratch/root/etc/"
		printf "#!/bin/sh\nexit 101\n" >"$scratch/root/usr/sbin/policy-rc.d"
		chmod 755 "$scratch/root/usr/sbin/policy-rc.d"
		export DEBIAN_FRONTEND=noninteractive
		chroot "$scratch/root" apt-get -q -o Acquire::Check-Valid-Until=false update
		chroot "$scratch/root" apt-get -q -y --no-install-recommends install iproute2 procps slurmdbd mariadb-server
		chroot "$scratch/root" apt-get clean
		rm -rf "$scratch/root/var/lib/mysql" "$scratch/root/var/lib/apt/lists/"*
	' prepare "$suite" "$scratch" "$roots/$suite"
	mv "$scratch/upper" "$layer"
	rm -rf "$scratch"
done
