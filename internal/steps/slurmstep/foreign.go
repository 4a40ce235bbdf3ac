package slurmstep

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmctl"
)

// foreignScript reads paths and prints those of files that somebody else wrote.
// A configuration file as its package brought it is nobody's.
const foreignScript = `while read -r file; do
  [ -s "$file" ] || [ -L "$file" ] || continue
  ` + hasHeader + ` && continue
  sum=$(md5sum <"$file") && dpkg-query -W -f '${Conffiles}\n' 2>/dev/null | grep -qF " $file ${sum%% *}" && continue
  printf '%s\n' "$file"
done`

// refuseForeign fails when files of somebody else stand where ours are to go,
// on any of the hosts.
func refuseForeign(ctx context.Context, session *remote.Session, hosts []string, files []slurmctl.File) error {
	var paths strings.Builder
	for _, file := range files {
		paths.WriteString(file.Path + "\n")
	}
	var all []error
	for _, host := range hosts {
		out, err := session.Run(ctx, host, foreignScript, []byte(paths.String()))
		if err != nil {
			return fmt.Errorf("looking for files of somebody else on %s: %w", host, err)
		}
		if foreign := strings.Fields(out); len(foreign) > 0 {
			all = append(all, fmt.Errorf("%s on %s is not of gpucluster and is not overwritten: take its content over into the environment file, then move it away",
				strings.Join(foreign, ", "), host))
		}
	}
	return errors.Join(all...)
}
