package slurmstep

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// hasHeader is a shell test of whether $file begins with our header.
const hasHeader = `head -n 2 -- "$file" | grep -q ': written by gpucluster\.'`

// removeStale removes files of ours that are no longer in the set, such as
// topology.conf of a cluster that went flat. It runs after the activation, when
// nothing refers to them any more. Files of somebody else stay.
func removeStale(ctx context.Context, session *remote.Session, host string, keep []string) error {
	script := `set -e
cd ` + configDir + `
keep=$(cat)
for file in *.conf; do
  [ -f "$file" ] || continue
  printf '%s\n' "$keep" | grep -qxF -- "$file" && continue
  ` + hasHeader + ` || continue
  rm -f -- "$file"
done
`
	if _, err := session.Run(ctx, host, script, []byte(strings.Join(keep, "\n")+"\n")); err != nil {
		return fmt.Errorf("removing files that are no longer in use from %s: %w", host, err)
	}
	return nil
}
