#!/usr/bin/env bash
# Puts the programs that gpucluster drives into .tools/bin of this checkout, pinned, and installs the Debian
# packages it needs. Safe to run again: what is up to date is not touched, and then it takes about a second.
#
#   tools/install.sh             what every environment needs
#   tools/install.sh --for ENV   and what `make up ENV=...` needs: for a lab, Docker and what makes its images; for one
#                                with Kubernetes, what its clusters are made of, in a store of this machine
#   tools/install.sh --check     and what `make check` needs
#   tools/install.sh --test      and what `make test` needs: a lab, Kubernetes for it, and the real daemons that tests run
#                                for themselves
#
# Versions are pinned by the go.mod of each folder in tools/. The first run compiles Pulumi (minutes); go.mod, go.sum,
# the folder's sources and the Go version decide whether a program is built again.
set -euo pipefail

mode=${1:-} env=${2:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools=$root/.tools
bin=$tools/bin
export PULUMI_HOME=${PULUMI_HOME:-$tools/pulumi}
export PATH=$bin:$PATH
# Not who built it from which commit: the same sources give the same program, and git need not trust the folder's owner.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"

# The versions of the plugins that the Go SDKs in the root go.mod ask for.
command_plugin=1.2.1
kubernetes_plugin=4.32.0
# How long the download of a plugin may take before it is built here instead.
download_limit=60s

say() { printf 'tools: %s\n' "$*"; }
die() {
	printf 'tools: %s\n' "$*" >&2
	exit 1
}

# with_progress TITLE COMMAND...: runs the command silently, says every 10 s that it still runs, shows what it wrote when it fails.
with_progress() {
	local title=$1 log status=0 start=$SECONDS next=10 pid
	shift
	log=$(mktemp "$tools/log.XXXXXX")
	"$@" >"$log" 2>&1 9>&- &
	pid=$!
	trap 'kill "$pid" 2>/dev/null || true; rm -f "$log"; exit 130' INT TERM
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
		if ((SECONDS - start >= next)); then
			say "$title: $((SECONDS - start)) s ..."
			next=$((next + 10))
		fi
	done
	wait "$pid" || status=$?
	trap - INT TERM
	if ((status != 0)); then
		tail -n 20 "$log" >&2
	elif ((SECONDS > start)); then
		say "$title: done in $((SECONDS - start)) s"
	fi
	rm -f "$log"
	return "$status"
}

# digest FOLDER: changes when the folder's sources, its pins or the Go version change.
digest() {
	{
		printf '%s\n' "$go_version"
		cd "$1" && find . -type f \( -name '*.go' -o -name 'go.*' \) ! -name '*_test.go' -print0 | sort -z | xargs -0 sha256sum
	} | sha256sum | cut -d' ' -f1
}

# build NAME PACKAGE ABOUT [LDFLAGS [FILE [FLAG...]]]: compiles PACKAGE of the module tools/NAME to .tools/bin/NAME, or FILE, unless that is up to date.
build() {
	local name=$1 package=$2 about=$3 ldflags=${4:-} file=${5:-$bin/$1} stamp want
	shift $(($# > 5 ? 5 : $#))
	stamp=$tools/stamps/$name
	want=$(digest "$root/tools/$name")
	if [[ -x $file && -r $stamp && $(<"$stamp") == "$want" ]]; then
		return
	fi
	say "$name: compiling (about $about on 2 cores the first time)"
	with_progress "$name" go build -C "$root/tools/$name" -ldflags "$ldflags" -o "$file" "$@" "$package" ||
		die "$name could not be built; the lines above say why. It needs the modules named in tools/$name/go.mod: check GOPROXY and the network"
	printf '%s\n' "$want" >"$stamp"
}

# need_packages PACKAGE:PROGRAM...: installs the Debian packages whose program is missing.
need_packages() {
	local pair missing=()
	for pair in "$@"; do
		command -v "${pair#*:}" >/dev/null || missing+=("${pair%%:*}")
	done
	if ((${#missing[@]} == 0)); then
		return
	fi
	local install="apt-get install -y --no-install-recommends ${missing[*]}"
	command -v apt-get >/dev/null || die "these programs are missing and this is not a Debian system: install ${missing[*]} by its own means"
	if ((EUID != 0)); then
		die "these packages are missing and only root can install them; type: sudo $install"
	fi
	export DEBIAN_FRONTEND=noninteractive
	with_progress "package lists" apt-get update || say "package lists could not be renewed; trying with those at hand"
	# shellcheck disable=SC2086 # a list of words by design
	with_progress "packages ${missing[*]}" $install || die "packages could not be installed; type: $install"
}

# plugin NAME VERSION BUILDER: Pulumi's plugin NAME when it can be downloaded, else the one that BUILDER makes in .tools/bin.
# The outcome is remembered, so that an offline machine waits for the download once.
plugin() {
	local name=$1 version=$2 builder=$3
	local stamp=$tools/stamps/$name-plugin-$version home=$PULUMI_HOME/plugins/resource-$name-v$version program=pulumi-resource-$name
	if [[ ! -r $stamp ]]; then
		if [[ -d $home ]] || with_progress "$name plugin $version" \
			timeout "$download_limit" pulumi plugin install resource "$name" "$version" 2>/dev/null; then
			printf 'real\n' >"$stamp"
		else
			say "$name plugin $version cannot be downloaded here: it is built in tools/$program (make clean-tools forgets this)"
			printf 'built\n' >"$stamp"
		fi
	fi
	if [[ $(<"$stamp") == real ]]; then
		return
	fi
	"$builder" "$version"
	# On PATH Pulumi finds it too, with a warning. A plugin home that is not ours is left alone.
	if [[ $PULUMI_HOME == "$tools/pulumi" && ! $home/$program -ef $bin/$program ]]; then
		mkdir -p "$home"
		ln -f "$bin/$program" "$home/$program"
	fi
}

# command_plugin VERSION: a stand-in of our own with the same schema.
command_plugin() {
	build pulumi-resource-command . "1 min" "-X main.version=$1"
}

# kubernetes_plugin VERSION: upstream's own, from its module. What it embeds lies in another folder of the module, and is laid over
# ours while it is compiled.
kubernetes_plugin() {
	local folder=$root/tools/pulumi-resource-kubernetes upstream module overlay=$tools/overlay.json
	upstream=github.com/pulumi/pulumi-kubernetes/provider/v4
	go mod download -C "$folder" "$upstream" || die "the module of the kubernetes plugin could not be downloaded: check GOPROXY and the network"
	module=$(go list -C "$folder" -m -f '{{.Dir}}' "$upstream")/cmd/pulumi-resource-kubernetes
	printf '{"Replace": {"%s": "%s", "%s": "%s"}}\n' "$folder/schema.json" "$module/schema.json" \
		"$folder/terraform-mapping.json" "$module/terraform-mapping.json" >"$overlay"
	build pulumi-resource-kubernetes . "7 min" "-s -w -X $upstream/pkg/version.Version=$1" "" -overlay "$overlay"
}

command -v go >/dev/null || die "go is missing: install Go 1.26 or newer from https://go.dev/dl"
go_version=$(go env GOVERSION GOOS GOARCH)
mkdir -p "$bin" "$tools/stamps" 2>/dev/null || true
for path in "$tools" "$bin" "$tools/stamps" "$tools/lock"; do
	if [[ ! -w $path && ($path != */lock || -e $path) ]]; then
		die "$path cannot be written, since another user made this checkout or its tools: go on as that user, or in a checkout of your own: git clone $root"
	fi
done
# One at a time: runs in the same checkout would write the same files.
exec 9>"$tools/lock"
if ! flock -n 9; then
	say "another run works on $tools; waiting for it"
	flock 9
fi

# says PATTERN: tests make labs of their own, with everything; of an environment, a name or a file, its file tells.
says() {
	local file=$env
	[[ $file == */* ]] || file=$root/stacks/Pulumi.$file.yaml
	case $mode in
	--test) return 0 ;;
	--for) grep -qsE "^[^#]*\\b$1" "$file" ;;
	*) return 1 ;;
	esac
}
needs_lab() { says 'lab:'; }
needs_kubernetes() { says 'scheduler:[[:space:]]*["'\'']?(kubernetes|hybrid)\b'; }
needs_artifacts() { needs_lab && needs_kubernetes; }

need_packages ansible-core:ansible-playbook openssh-client:ssh python3:python3
if needs_lab; then
	need_packages docker.io:dockerd docker.io:docker mmdebstrap:mmdebstrap
fi

pulumi_version=$(awk '$1 == "github.com/pulumi/pulumi/pkg/v3" { print $2 }' "$root/tools/pulumi/go.mod")
build pulumi github.com/pulumi/pulumi/pkg/v3/cmd/pulumi "3 min" "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=$pulumi_version"
build pulumi-language-go github.com/pulumi/pulumi/sdk/v3/go/pulumi-language-go "1 min" "" "$bin/pulumi-language-go-host"
cmp -s "$root/tools/pulumi-language-go/wrapper.sh" "$bin/pulumi-language-go" ||
	install -m 755 "$root/tools/pulumi-language-go/wrapper.sh" "$bin/pulumi-language-go"
plugin command "$command_plugin" command_plugin
if needs_kubernetes; then
	plugin kubernetes "$kubernetes_plugin" kubernetes_plugin
fi

# Go itself knows whether these are up to date (embedded files included), so there is no stamp. The program of the
# stacks is built here, where progress shows; Pulumi finds it up to date (tools/stack.sh). Without the folder in it
# (-trimpath), what one checkout has compiled serves every other.
own() {
	if [[ -d $root/$2 ]]; then
		with_progress "$1" go build -C "$root" -trimpath -o "$bin/$1" "./$2" || die "$2 could not be built; the lines above say why"
	fi
}
own gpucluster cmd/gpucluster
own gpucluster-stack stacks

# What a lab's Kubernetes is made of lies in a store of this machine, which only root writes; tests that miss it say so and
# are skipped. Images hold Debian's nft and iptables, and flannel has C in it. The program is the same from any checkout (-trimpath),
# since it is in the store, and the store is one.
if needs_artifacts && { ((EUID == 0)) || [[ $mode == --for ]]; }; then
	need_packages nftables:/usr/sbin/nft iptables:/usr/sbin/xtables-nft-multi gcc:gcc libc6-dev:gencat
	CGO_ENABLED=0 with_progress artifacts go build -C "$root/tools/artifacts" -trimpath -o "$bin/artifacts" . ||
		die "tools/artifacts could not be built; the lines above say why"
	tests=()
	[[ $mode != --test ]] || tests=(--tests)
	"$bin/artifacts" build --tools "$root/tools" "${tests[@]}" || die "what Kubernetes in the lab is made of could not be made; the lines above say why"
fi

# without_starting COMMAND...: installs packages whose daemons are not to run on this machine. The policy file is how
# Debian's packages are told.
without_starting() {
	local policy=/usr/sbin/policy-rc.d made=
	if ((EUID == 0)) && [[ ! -e $policy ]]; then
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
		made=yes
	fi
	"$@"
	if [[ $made == yes ]]; then
		rm -f "$policy"
	fi
}

# Slurm 22.05 is Debian 12's own; the other releases come as trees that tests enter. Without root, or on another system,
# the tests that need them say so and are skipped.
if [[ $mode == --test ]] && ((EUID == 0)) && command -v apt-get >/dev/null; then
	without_starting need_packages munge:munged slurmctld:slurmctld slurmd:slurmd slurmdbd:slurmdbd slurm-client:scontrol \
		mariadb-server:mariadbd openssh-server:sshd iproute2:ip
	with_progress "trees of other Debian releases" go test -C "$root" -count=1 ./internal/judge ||
		die "the trees could not be made; the lines above say why"
	with_progress "databases in them" sh "$root/internal/slurmtest/prepare.sh" || die "the databases could not be installed; the lines above say why"
fi

if [[ $mode == --check ]]; then
	need_packages yamllint:yamllint ansible-lint:ansible-lint shellcheck:shellcheck
	build staticcheck honnef.co/go/tools/cmd/staticcheck "1 min"
fi
say "ready: $bin"
