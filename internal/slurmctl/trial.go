package slurmctl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path"
	"sort"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// TrialFailed says that a slurmctld did not accept a file set.
type TrialFailed struct {
	// Log are the lines of its log that are errors, without time stamps.
	Log []string
}

func (e *TrialFailed) Error() string {
	return "slurmctld refuses the new files: " + strings.Join(e.Log, "; ")
}

// trialDropped are the keys of slurm.conf that tie a slurmctld to live
// state: who it is, where it listens, writes and keeps state, and the
// database. Everything else is judged as it is.
var trialDropped = map[string]bool{
	"slurmctldhost": true, "slurmctldaddr": true, "slurmctldport": true, "slurmctldpidfile": true,
	"slurmctldlogfile": true, "slurmctldsyslogdebug": true, "slurmschedlogfile": true, "statesavelocation": true,
	"slurmctldprimaryonprog": true, "slurmctldprimaryoffprog": true, "slurmuser": true,
	"accountingstoragetype": true, "accountingstoragehost": true, "accountingstoragebackuphost": true,
	"accountingstorageport": true, "accountingstoragepass": true, "accountingstorageenforce": true,
	"accountingstoragetres": true, "accountingstoreflags": true, "accountingstorageparameters": true,
	"accountingstorageexternalhost": true, "accountingstorageuser": true,
	"jobcomptype": true, "jobcomphost": true, "jobcomppass": true, "jobcompport": true, "jobcompuser": true, "jobcomploc": true,
	// A weight for a resource that no database tracks is fatal.
	"priorityweighttres": true,
}

// trialAppended are the keys in place of them; %s is the trial's folder.
const trialAppended = `
SlurmctldHost=gpucluster-trial
SlurmctldPort=6817
SlurmctldPidFile=%[1]s/slurmctld.pid
SlurmctldLogFile=%[1]s/slurmctld.log
StateSaveLocation=%[1]s/state
SlurmUser=%[2]s
AccountingStorageType=accounting_storage/none
`

// trialConf rewrites a slurm.conf for a slurmctld that only judges it.
func trialConf(conf, dir, user string) string {
	var b strings.Builder
	for _, line := range logicalLines(conf) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		key, _, _ := strings.Cut(words[0], "=")
		if trialDropped[strings.ToLower(key)] {
			continue
		}
		if strings.EqualFold(key, "PartitionName") {
			line = withoutDatabaseFields(line)
		}
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, trialAppended, dir, user)
	return b.String()
}

// databaseFields are the fields of a partition that name what only the database
// knows. Without it, an unknown QOS (AllowQos: from 26.05) or a weight of a
// resource that nobody tracks is fatal.
var databaseFields = map[string]bool{"qos": true, "allowqos": true, "denyqos": true, "tresbillingweights": true}

func withoutDatabaseFields(line string) string {
	var kept []string
	for _, w := range strings.Fields(line) {
		key, _, _ := strings.Cut(w, "=")
		if !databaseFields[strings.ToLower(key)] {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// logicalLines joins lines that end in a backslash.
func logicalLines(conf string) []string {
	return strings.Split(strings.ReplaceAll(conf, "\\\n", " "), "\n")
}

// trialScript runs as root on the controller. Input: a tar of the files.
// $user is the slurm user, $nodes a hosts file that resolves every node.
//
// The network namespace keeps the daemon from every live one; the mount
// namespace lets names resolve although no resolver can be reached (slurmctld
// would try for minutes); the process
// namespace ends all that was started, whatever it does.
const trialScript = `set -e
umask 077
dir=$(mktemp -d /tmp/gpucluster-trial.XXXXXX)
trap 'rm -rf "$dir"' EXIT
trap 'exit 129' HUP INT TERM
tar -x -f - -C "$dir"
sed -i "s|@DIR@|$dir|g" "$dir/slurm.conf"
mkdir "$dir/state"
: >"$dir/slurmctld.log"
chown -R "$user" "$dir"
# Without -e: the daemon's failure is the answer.
set +e
timeout --kill-after=5 120 unshare --net --mount --uts --pid --fork --kill-child -- /bin/sh -c '
hostname gpucluster-trial
mount --bind "$1/hosts" /etc/hosts && mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf || exit 3
ip link set lo up && ip addr add 192.0.2.1/32 dev lo || exit 3
export SLURM_CONF="$1/slurm.conf"
setpriv --reuid "$2" --regid "$(id -g "$2")" --init-groups \
	slurmctld -D -c -f "$1/slurm.conf" >"$1/out" 2>&1 </dev/null &
pid=$!
n=0
rc=1
while kill -0 $pid 2>/dev/null && [ $n -lt 300 ]; do
	if timeout 10 scontrol ping 2>/dev/null | grep -q "is UP"; then
		rc=0
		break
	fi
	n=$((n + 1))
	sleep 0.2
done
exit $rc' trial "$dir" "$user"
rc=$?
[ $rc -ne 124 ] || echo "fatal: slurmctld neither came up nor ended within 2 minutes"
[ $rc -lt 124 ] || rc=1
cat "$dir/out" "$dir/slurmctld.log" | grep -E 'error:|fatal:' | sort -u
exit $rc
`

// Trial loads a file set in a slurmctld of its own, on the controller: in its
// own network namespace, with its own ports, pid file and empty state, accounting
// off. It returns what that daemon logged as errors although it came up, or a
// [*TrialFailed]. Files outside the folder of slurm.conf are not part of it.
func (c *Client) Trial(ctx context.Context, files []File, nodes []NodeSpec, user string) ([]string, error) {
	if user == "" {
		user = "slurm"
	}
	set, err := trialFiles(files, nodes, user)
	if err != nil {
		return nil, err
	}
	archive, err := tarball(set, func(f File) string { return strings.TrimPrefix(f.Path, "/") })
	if err != nil {
		return nil, err
	}
	out, err := c.Runner.Run(ctx, "user="+shell.Quote(user)+"\n"+trialScript, archive)
	log := trialLog(string(out))
	var failed *shell.ExitError
	if errors.As(err, &failed) && failed.Status == 1 {
		if len(log) == 0 {
			log = append(log, lines(failed.Stderr)...)
		}
		return nil, &TrialFailed{Log: log}
	}
	if err != nil {
		return nil, fmt.Errorf("loading the new files on trial: %w", err)
	}
	return log, nil
}

// trialFiles are the files of slurm.conf's folder, rewritten, and a hosts file.
func trialFiles(files []File, nodes []NodeSpec, user string) ([]File, error) {
	folder := ""
	for _, f := range files {
		if path.Base(f.Path) == "slurm.conf" {
			folder = path.Dir(f.Path)
		}
	}
	if folder == "" {
		return nil, errors.New("loading the new files on trial: no slurm.conf among them")
	}
	var set []File
	for _, f := range files {
		// slurmdbd.conf holds the database's password and slurmctld does not read it.
		if path.Dir(f.Path) != folder || path.Base(f.Path) == "slurmdbd.conf" {
			continue
		}
		content := f.Content
		if path.Base(f.Path) == "slurm.conf" {
			content = trialConf(content, "@DIR@", user)
		}
		set = append(set, File{Path: "/" + path.Base(f.Path), Content: content})
	}
	return append(set, File{Path: "/hosts", Content: trialHosts(set, nodes)},
		File{Path: "/nsswitch.conf", Content: trialSwitch}), nil
}

// trialSwitch looks users up as most hosts do, and hosts in the file alone.
const trialSwitch = "passwd: files systemd sss\ngroup: files systemd sss\nhosts: files\n"

// trialHosts resolves every name that slurmctld may look up. Addresses differ: it
// finds nodes by address too.
func trialHosts(files []File, nodes []NodeSpec) string {
	names := []string{}
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	for _, f := range files {
		if f.Path == "/slurm.conf" {
			names = append(names, hostFields(f.Content)...)
		}
	}
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n192.0.2.1 gpucluster-trial\n")
	seen := map[string]bool{}
	for i, name := range names {
		if !seen[name] && net.ParseIP(name) == nil {
			fmt.Fprintf(&b, "10.%d.%d.%d %s\n", 64+i>>16, i>>8&255, i&255, name)
		}
		seen[name] = true
	}
	return b.String()
}

// hostFields lists the names in NodeHostname and NodeAddr fields. What is no
// host list is left to slurmctld.
func hostFields(conf string) []string {
	var names []string
	for _, line := range logicalLines(conf) {
		for _, w := range strings.Fields(line) {
			key, value, _ := strings.Cut(w, "=")
			if strings.EqualFold(key, "NodeHostname") || strings.EqualFold(key, "NodeAddr") {
				some, _ := hostlist.Expand(value)
				names = append(names, some...)
			}
		}
	}
	return names
}

// trialNoise are errors that the trial itself causes: there is no state and no
// database.
var trialNoise = []string{
	"Could not open ", "NOTE: Trying backup state save file", "Job accounting information gathered, but not stored",
	"Even though we are collecting accounting information", "can only be used with SlurmDBD",
	"High latency for ", // the machine is busy just now
}

func isNoise(line string) bool {
	for _, n := range trialNoise {
		if strings.Contains(line, n) {
			return true
		}
	}
	return false
}

// trialLog strips time stamps and the temporary folder, so that equal files give
// equal lines.
func trialLog(out string) []string {
	seen := map[string]bool{}
	var log []string
	for _, line := range lines(out) {
		if i := strings.Index(line, "] "); strings.HasPrefix(line, "[") && i > 0 {
			line = line[i+2:]
		}
		line = strings.TrimPrefix(strings.TrimPrefix(line, "slurmctld: "), " ")
		if i := strings.Index(line, "/tmp/gpucluster-trial."); i >= 0 {
			rest := line[i+len("/tmp/gpucluster-trial."):]
			if len(rest) > 6 {
				line = line[:i] + strings.TrimPrefix(rest[6:], "/")
			}
		}
		if !seen[line] && !isNoise(line) {
			seen[line] = true
			log = append(log, line)
		}
	}
	sort.Strings(log)
	return log
}
