package accounting

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Prepare makes the QOS that partitions refer to, bare, before a slurmctld
// reads a configuration with them: it would refuse to start without. [Apply]
// gives them their fields later. SlurmConf is the new slurm.conf, by which
// sacctmgr finds the database on a host that has none yet.
func Prepare(ctx context.Context, r shell.Runner, keepers Keepers, cluster string, qos []string, slurmConf string) error {
	if len(qos) == 0 {
		return nil
	}
	out, err := withConf(ctx, r, slurmConf, "sacctmgr -nP show qos format=name")
	if err != nil {
		return fmt.Errorf("asking the accounting database for its QOS: %w", err)
	}
	known := strings.Fields(strings.ToLower(string(out)))
	var missing []string
	var keys []Key
	for _, name := range qos {
		if name = strings.ToLower(name); !slices.Contains(known, name) && !slices.Contains(missing, name) {
			missing = append(missing, name)
			keys = append(keys, Key{Kind: KindQOS, Name: name})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	owned, err := ReadLedger(ctx, keepers, cluster)
	if err != nil {
		return err
	}
	owned = owned.with(keys, nil)
	if err := owned.Write(ctx, keepers); err != nil {
		return err
	}
	if _, err := withConf(ctx, r, slurmConf, "sacctmgr -i add qos "+shell.Words(missing...)); err != nil {
		return fmt.Errorf("making the QOS that partitions refer to: %w", err)
	}
	return nil
}

// withConf runs a command that reads another slurm.conf than the host's own.
func withConf(ctx context.Context, r shell.Runner, slurmConf, command string) ([]byte, error) {
	script := `set -e
umask 077
dir=$(mktemp -d /tmp/gpucluster-accounting.XXXXXX)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/slurm.conf"
SLURM_CONF=$dir/slurm.conf ` + command + " </dev/null\n"
	return r.Run(ctx, script, []byte(slurmConf))
}
