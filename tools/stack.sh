#!/usr/bin/env bash
# Runs Pulumi on one environment of this checkout with everything set that it needs.
#
#   tools/stack.sh up ENV [WORD...]        build or change it, then print what it is
#   tools/stack.sh preview ENV [WORD...]   show what up would change
#   tools/stack.sh down ENV [WORD...]      take it down
#   tools/stack.sh pulumi ENV WORD...      any other Pulumi command, for example: pulumi lab-slurm stack output
#
# Where things are, each overridden by a variable that is already set:
#   GPUCLUSTER_STATE               the folder with the state and its passphrase; default .state in this checkout.
#                                  Two checkouts that name the same folder work on the same environments.
#   PULUMI_BACKEND_URL             any Pulumi backend; default file://$GPUCLUSTER_STATE
#   PULUMI_CONFIG_PASSPHRASE, PULUMI_CONFIG_PASSPHRASE_FILE
#                                  what encrypts the secrets in the state; default a file made once, in the state's folder
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

die() {
	printf 'stack: %s\n' "$*" >&2
	exit 1
}

(($# >= 2)) || die "usage: tools/stack.sh up|preview|down|pulumi ENV [words for pulumi]"
verb=$1 env=$2
shift 2
case $verb in
up | preview | down | pulumi) ;;
*) die "unknown verb $verb: use up, preview, down or pulumi" ;;
esac
[[ $env =~ ^[A-Za-z0-9][A-Za-z0-9_.-]*$ ]] || die "$env is not a name of an environment: use letters, digits, dash, dot and underscore"
file=stacks/Pulumi.$env.yaml
if [[ ! -f $file ]]; then
	known=$(find stacks -name 'Pulumi.*.yaml' -printf '%f ' | sed -e 's/Pulumi\.//g' -e 's/\.yaml//g')
	die "there is no $file; the environments are: $known"
fi

export PATH=$root/.tools/bin:$PATH
export PULUMI_HOME=${PULUMI_HOME:-$root/.tools/pulumi}
export PULUMI_SKIP_UPDATE_CHECK=true
# The salt of the passphrase is part of the state: every checkout finds it there, and none has to keep it in a file.
export PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true
# As in tools/install.sh, which builds the same program beforehand.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
export GPUCLUSTER_BUILD_TARGET=$root/.tools/bin/gpucluster-stack
command -v pulumi >/dev/null || die "pulumi is missing; type: make tools"

if [[ -z ${PULUMI_BACKEND_URL:-} ]]; then
	state=${GPUCLUSTER_STATE:-$root/.state}
	mkdir -p "$state"
	chmod 700 "$state"
	PULUMI_BACKEND_URL=file://$(cd "$state" && pwd)
fi
export PULUMI_BACKEND_URL

# A passphrase is made only for a state folder of our own kind; other backends bring their own secrets.
if [[ -z ${PULUMI_CONFIG_PASSPHRASE+set}${PULUMI_CONFIG_PASSPHRASE_FILE:-} && $PULUMI_BACKEND_URL == file://* ]]; then
	state=${PULUMI_BACKEND_URL#file://}
	state=${state/#\~/$HOME}
	export PULUMI_CONFIG_PASSPHRASE_FILE=$state/passphrase
	if [[ ! -e $PULUMI_CONFIG_PASSPHRASE_FILE ]]; then
		if compgen -G "$state/.pulumi/stacks/gpucluster/*.json" >/dev/null; then
			die "$state holds environments, but $PULUMI_CONFIG_PASSPHRASE_FILE, which encrypts their secrets, is gone: bring it back, or set PULUMI_CONFIG_PASSPHRASE"
		fi
		# Written under another name and linked, so that of two first runs one passphrase wins and is never seen half-written.
		fresh=$(mktemp "$state/.passphrase.XXXXXX")
		od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$fresh"
		ln "$fresh" "$PULUMI_CONFIG_PASSPHRASE_FILE" 2>/dev/null || true
		rm -f "$fresh"
	fi
fi

# Pulumi writes the salt into the file that it takes the configuration from. It gets a copy, so the checkout stays clean.
work=$root/.state/work
mkdir -p "$work"
config=$work/Pulumi.$env.yaml
cp "$file" "$config"

# make_stack: creates the stack in the backend when it is not there yet, in the folder of the copy for the same reason.
make_stack() {
	sed '/^main:/d; /^stackConfigDir:/d' Pulumi.yaml >"$work/Pulumi.yaml"
	pulumi -C "$work" stack ls --json | grep -q "\"name\": \"$env\"" ||
		pulumi -C "$work" --non-interactive stack init --no-select "$env"
}

make_stack
case $verb in
up)
	pulumi up --stack "$env" --config-file "$config" --yes --skip-preview "$@"
	printf '\n'
	pulumi stack output summary --stack "$env" 2>/dev/null || true
	;;
preview)
	pulumi preview --stack "$env" --config-file "$config" --diff "$@"
	;;
down)
	pulumi destroy --stack "$env" --config-file "$config" --yes --skip-preview "$@"
	;;
pulumi)
	pulumi "$@" --stack "$env"
	;;
esac
