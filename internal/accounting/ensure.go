package accounting

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// EnsureQOS makes the declared QOS that the database lacks, without their fields,
// which [Apply] sets. It runs before slurmctld loads files in which partitions
// name them: an unknown QOS of a partition is fatal, and in 26.05 one in AllowQos
// is too. slurmConf is the content of the new slurm.conf: sacctmgr finds the
// database by it, for on a new controller there is no other yet.
func EnsureQOS(ctx context.Context, r slurmctl.Runner, desired Desired, slurmConf string) error {
	var names []string
	for _, e := range desired.Entities {
		if e.Kind == KindQOS {
			names = append(names, folded(e.Key).Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	out, err := r.Run(ctx, withConf+"sacctmgr -nP show qos format=Name", []byte(slurmConf))
	if err != nil {
		return fmt.Errorf("listing the QOS of the accounting database: %w", err)
	}
	have := map[string]bool{}
	for _, line := range strings.Fields(string(out)) {
		have[strings.ToLower(line)] = true
	}
	var missing []Key
	var script strings.Builder
	script.WriteString(withConf)
	for _, name := range names {
		if !have[name] {
			missing = append(missing, Key{Kind: KindQOS, Name: name})
			script.WriteString(slurmctl.Words("sacctmgr", "-i", "add", "qos", name) + " </dev/null >/dev/null\n")
		}
	}
	if len(missing) == 0 {
		return nil
	}
	owned, err := ReadLedger(ctx, r, desired.Cluster)
	if err != nil {
		return err
	}
	if err := owned.with(missing, nil).Write(ctx, r); err != nil {
		return err
	}
	if _, err := r.Run(ctx, script.String(), []byte(slurmConf)); err != nil {
		return fmt.Errorf("making %s: %w", joinKeys(missing), err)
	}
	return nil
}

// withConf begins a script that has a slurm.conf of its own, from its input.
const withConf = `set -e
umask 077
dir=$(mktemp -d /tmp/gpucluster-accounting.XXXXXX)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/slurm.conf"
export SLURM_CONF="$dir/slurm.conf"
`
