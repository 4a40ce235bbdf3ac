#!/usr/bin/env bash
# Runs every linter over the repository and reports all that is wrong before it fails.
#
#   tools/check.sh MODULE... -- SHELL_SCRIPT...
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
PATH=$PWD/.tools/bin:$PATH

modules=()
while (($# > 0)) && [[ $1 != -- ]]; do
	modules+=("$1")
	shift
done
shift
failed=$(mktemp) || exit
trap 'rm -f "$failed"' EXIT

# run TITLE COMMAND...: what the command prints is shown only when it fails.
run() {
	local title=$1 output
	shift
	if output=$("$@" 2>&1); then
		printf 'check: %-40s ok\n' "$title"
	else
		printf 'check: %-40s FAILED\n%s\n' "$title" "$output"
		printf '%s\n' "$title" >>"$failed"
	fi
}

# ours PATTERN...: the files of this checkout that git does not ignore.
ours() { git ls-files -z --cached --others --exclude-standard -- "$@"; }

formatted() {
	local unformatted
	unformatted=$(ours '*.go' | xargs -0 -r gofmt -l)
	[[ -z $unformatted ]] || {
		printf 'not formatted (make fmt):\n%s\n' "$unformatted"
		return 1
	}
}

yaml() { ours '*.yml' '*.yaml' | xargs -0 -r yamllint --strict; }

# What takes one processor runs beside Go's linters, which take turns.
{
	run gofmt formatted
	run yamllint yaml
	if [[ -d ansible ]]; then
		run "ansible-lint (profile production)" env NO_COLOR=1 ANSIBLE_ROLES_PATH="$PWD/ansible/roles" ANSIBLE_COLLECTIONS_PATH="$PWD/ansible/collections" \
			ansible-lint --offline -q ansible
	fi
	run shellcheck shellcheck "$@"
} &
for module in "${modules[@]}"; do
	run "go vet $module" go vet -C "$module" ./...
	run "staticcheck $module" env -C "$module" staticcheck ./...
done
wait "$!" || printf 'the linters of other files\n' >>"$failed"

if [[ -s $failed ]]; then
	printf 'check: failed: %s\n' "$(paste -sd' ' "$failed")"
	exit 1
fi
