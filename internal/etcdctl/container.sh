# shellcheck shell=sh
set -eu

# The container of etcd that runs now; those that have ended are listed too.
container() {
	for id in $(ctr --namespace k8s.io containers list --quiet 'labels."io.kubernetes.container.name"==etcd'); do
		if ctr --namespace k8s.io tasks list | grep -q "^$id .*RUNNING"; then
			echo "$id"
			return
		fi
	done
	echo "etcd does not run on $(hostname)" >&2
	return 1
}

etcd() {
	keys=/etc/kubernetes/pki/etcd
	id=$(container)
	timeout -k 5 90 ctr --namespace k8s.io tasks exec --exec-id "gpucluster-$$-$(date +%N)" "$id" \
		etcdctl --endpoints https://127.0.0.1:2379 --cacert "$keys/ca.crt" --cert "$keys/healthcheck-client.crt" --key "$keys/healthcheck-client.key" "$@"
}

# snapshot FOLDER KEPT
snapshot() {
	umask 077
	folder=$1
	exec 9>/run/gpucluster-etcd-snapshot.lock
	flock 9
	install -d -m 0700 "$folder"
	# The container sees this folder of the host, and not the other.
	taken=/var/lib/etcd/gpucluster-snapshot.db
	name=etcd-$(date -u +%Y%m%dT%H%M%S.%NZ).db
	trap 'rm -f "$taken" "$taken.part" "$folder/$name.part"' EXIT
	rm -f "$taken" "$taken.part"
	etcd snapshot save "$taken" >/dev/null
	cp "$taken" "$folder/$name.part"
	chmod 0600 "$folder/$name.part"
	sync "$folder/$name.part"
	mv "$folder/$name.part" "$folder/$name"
	find "$folder" -maxdepth 1 -name 'etcd-*.db' | sort | head -n "-$2" | xargs -r rm -f --
	echo "$folder/$name"
}

