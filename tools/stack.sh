#!/usr/bin/env bash
# Runs Pulumi on one environment of this checkout with everything set that it needs.
#
#   tools/stack.sh up ENV [WORD...]        build or change it, then print what it is
#   tools/stack.sh preview ENV [WORD...]   show what up would change
#   tools/stack.sh down ENV [WORD...]      take it down
#   tools/stack.sh status ENV              show it as it is now: hosts, partitions, jobs
#   tools/stack.sh ssh ENV HOST [-- WORD...]   log in to a host, or run a command there
#   tools/stack.sh pulumi ENV WORD...      any other Pulumi command, for example: pulumi lab-slurm stack output
#                                          or, for a secret of the file: pulumi ENV config set --secret --path KEY <value
#
# ENV is a name, for stacks/Pulumi.NAME.yaml of this checkout, or the path of a file Pulumi.NAME.yaml anywhere.
#
# Where things are, each overridden by a variable that is already set:
#   GPUCLUSTER_STATE               the folder with the state and its passphrase; default .state in this checkout.
#                                  Two checkouts that name the same folder work on the same environments.
#   PULUMI_BACKEND_URL             any Pulumi backend; default file://$GPUCLUSTER_STATE
#   PULUMI_CONFIG_PASSPHRASE, PULUMI_CONFIG_PASSPHRASE_FILE
#                                  what encrypts the secrets in the state; default a file made once, in the state's folder
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

die() {
	printf 'stack: %s\n' "$*" >&2
	exit 1
}

(($# >= 2)) || die "usage: tools/stack.sh up|preview|down|status|ssh|pulumi ENV [words for pulumi]"
verb=$1 env=$2
# As it was given: what is printed for people to type has to work as well.
given=$2
shift 2
case $verb in
up | preview | down | status | ssh | pulumi) ;;
*) die "unknown verb $verb: use up, preview, down, status, ssh or pulumi" ;;
esac
file=
if [[ $env == */Pulumi.*.yaml ]]; then
	[[ -f $env ]] || die "there is no file $env"
	file=$(cd "$(dirname "$env")" && pwd)/${env##*/}
	env=${env##*/Pulumi.}
	env=${env%.yaml}
	# The program reads the environment from the same file.
	export GPUCLUSTER_ENVIRONMENT_FILE=$file
fi
cd "$root"
[[ $env =~ ^[A-Za-z0-9][A-Za-z0-9_.-]*$ ]] || die "$env is not a name of an environment: use letters, digits, dash, dot and underscore"
file=${file:-stacks/Pulumi.$env.yaml}
if [[ ! -f $file ]]; then
	known=$(find stacks -name 'Pulumi.*.yaml' -printf '%f ' | sed -e 's/Pulumi\.//g' -e 's/\.yaml//g')
	die "there is no $file; the environments are: $known"
fi

export PATH=$root/.tools/bin:$PATH
export PULUMI_HOME=${PULUMI_HOME:-$root/.tools/pulumi}
export PULUMI_SKIP_UPDATE_CHECK=true
# The salt of the passphrase is part of the state: every checkout finds it there, and none has to keep it in a file.
export PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER=true
# What is on PATH by chance is no plugin of ours, where ours lie in Pulumi's own place. In a home that is not ours, what we have built is
# on PATH alone.
if compgen -G "$PULUMI_HOME/plugins/resource-command-v*" >/dev/null &&
	{ [[ ! -x $root/.tools/bin/pulumi-resource-kubernetes ]] || compgen -G "$PULUMI_HOME/plugins/resource-kubernetes-v*" >/dev/null; }; then
	export PULUMI_IGNORE_AMBIENT_PLUGINS=true
fi
# As in tools/install.sh, which builds the same program beforehand.
export GOFLAGS="${GOFLAGS:-} -buildvcs=false -trimpath"
export GPUCLUSTER_BUILD_TARGET=$root/.tools/bin/gpucluster-stack
command -v pulumi >/dev/null || die "pulumi is missing; type: make tools"

if [[ -z ${PULUMI_BACKEND_URL:-} ]]; then
	state=${GPUCLUSTER_STATE:-$root/.state}
	mkdir -p "$state"
	chmod 700 "$state"
	PULUMI_BACKEND_URL=file://$(cd "$state" && pwd)
fi
export PULUMI_BACKEND_URL
# The folder of the state, empty when it is not in a folder.
state=
if [[ $PULUMI_BACKEND_URL == file://* ]]; then
	state=${PULUMI_BACKEND_URL#file://}
	state=${state/#\~/$HOME}
fi

# A passphrase is made only for a state in a folder; other backends bring their own secrets.
if [[ -n $state && -z ${PULUMI_CONFIG_PASSPHRASE+set}${PULUMI_CONFIG_PASSPHRASE_FILE:-} ]]; then
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

# A file with mistakes goes no further: no stack is made for it.
case $verb in
up | preview) report=$(gpucluster check "$file" 2>&1 >/dev/null) || die "$file has mistakes"$'\n\n'"$report" ;;
esac

# Pulumi writes the salt into the file that it takes the configuration from. It gets a copy, so the checkout stays clean.
work=$root/.state/work
mkdir -p "$work"
config=$work/Pulumi.$env.yaml
cp "$file" "$config"

# Pulumi's Kubernetes plugin leaves the administrator's kubeconfig behind as a temporary file. Its folder goes with the run; those
# of runs that were killed go now.
for TMPDIR in "$work"/tmp.*; do
	if [[ -d $TMPDIR ]] && ! kill -0 "${TMPDIR##*.}" 2>/dev/null; then
		rm -rf "$TMPDIR"
	fi
done
export TMPDIR=$work/tmp.$$
mkdir -m 700 "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT

# need_stack: a stack that is not in the backend yet is made by what may need one, in the folder of the copy for the same
# reason. Looking at an environment, or taking it down, makes nothing.
need_stack() {
	# Moved there, so that runs on other environments of this checkout never see half of it.
	local project
	project=$(mktemp "$work/.project.XXXXXX")
	sed '/^main:/d; /^stackConfigDir:/d' Pulumi.yaml >"$project"
	mv "$project" "$work/Pulumi.yaml"
	if pulumi -C "$work" stack ls --json | grep -q "\"name\": \"$env\""; then
		return
	fi
	case $verb in
	up | preview | pulumi) pulumi -C "$work" --non-interactive stack init --no-select "$env" ;;
	down)
		printf 'stack: %s was never built: there is nothing to take down\n' "$env"
		exit 0
		;;
	*) die "$env was never built; type: make up ENV=$env" ;;
	esac
}

# judge_locks: a run holds a lock. One that was killed leaves it; it goes when that process was on this machine and is no
# more. While another run is at work, a second one stops here: what that one has begun is not what a killed one left.
judge_locks() {
	local lock pid host
	for lock in "$state"/.pulumi/locks/*/gpucluster/"$env"/*.json; do
		[[ -r $lock ]] || return 0
		pid=$(sed -n 's/.*"pid":\([0-9]*\).*/\1/p' "$lock")
		host=$(sed -n 's/.*"hostname":"\([^"]*\)".*/\1/p' "$lock")
		# A process that has ended and that nobody has asked about yet, a zombie, still has a name.
		if [[ $host != "$(hostname)" ]] || { grep -qs pulumi "/proc/$pid/comm" && ! grep -q '^State:.*Z' "/proc/$pid/status"; }; then
			case $verb in
			up | down) die "another run is at work on $env (process $pid on $host): wait for it; if that machine is gone, type: tools/stack.sh pulumi $env cancel --yes" ;;
			*) return 0 ;;
			esac
		fi
		printf 'stack: an earlier run (process %s) was killed; its lock goes\n' "$pid"
	done
	pulumi cancel --yes --stack "$env" >/dev/null
}

# forget_pending: operations that a killed run had begun. Everything we create may be created again, so up does that.
forget_pending() {
	if pulumi stack export --stack "$env" | grep -q '"pending_operations"'; then
		printf 'stack: an earlier run was killed; what it had begun is done again\n'
		pulumi refresh --stack "$env" --config-file "$config" --yes --skip-preview --clear-pending-creates >/dev/null
	fi
}

show() {
	gpucluster status "$env" --ssh "tools/stack.sh ssh $(printf %q "$given")"
}

need_stack
if [[ -n $state ]]; then
	judge_locks
fi
case $verb in
up | down) forget_pending ;;
esac

case $verb in
up)
	# What the stack gives out is long, and the status that follows says what a person needs of it.
	status=0
	pulumi up --stack "$env" --config-file "$config" --yes --skip-preview --suppress-outputs "$@" || status=$?
	if ((status != 0)); then
		printf '\nstack: this run did not finish. What it has done stays. See to what is said above and run it again: it goes on from here.\n' >&2
		exit "$status"
	fi
	printf '\n'
	show
	;;
preview)
	# A preview keeps no state. By default it would write all of it out after each resource all the same, which takes minutes
	# with a thousand hosts. (An up needs that: it is what a run that is cut off goes on from.)
	PULUMI_SKIP_CHECKPOINTS=true pulumi preview --stack "$env" --config-file "$config" --suppress-outputs "$@"
	case " $* " in
	*" --diff "*) ;;
	*) printf '\nEvery value that changes, resource by resource: make preview ENV=%s ARGS=--diff\n' "$given" ;;
	esac
	;;
down)
	pulumi destroy --stack "$env" --config-file "$config" --yes --skip-preview "$@"
	;;
status)
	show
	;;
ssh)
	gpucluster ssh "$env" "$@"
	;;
pulumi)
	# What changes the configuration writes into the file itself; what reads it gets the copy, as above.
	case ${1:-} in
	config) set -- "$@" --config-file "$file" ;;
	up | update | preview | refresh | destroy | import) set -- "$@" --config-file "$config" ;;
	esac
	pulumi "$@" --stack "$env"
	;;
esac
