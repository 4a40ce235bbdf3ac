package slurmstep

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// asSlurm runs a program as the user of slurmctld: on a network file system root
// may be nobody.
const asSlurm = "runuser -u slurm -- "

// sharedState fails when controllers that take over from each other do not have
// the same directory for their state: the one that takes over would know no job,
// and slurmd would end them all.
func sharedState(ctx context.Context, session *remote.Session, controllers []string, dir string) error {
	if len(controllers) < 2 {
		return nil
	}
	first := controllers[0]
	file := shell.Quote(dir + "/.gpucluster-" + rand.Text())
	if _, err := session.Run(ctx, first, asSlurm+"touch "+file, nil); err != nil {
		return fmt.Errorf("writing to %s on %s as slurm: %w", dir, first, err)
	}
	// A network file system may show a new file a little later.
	look := "for i in 1 2 3 4 5 6; do " + asSlurm + "test -e " + file + " && exit 0; sleep 1; done; exit 1"
	var apart []string
	var unreachable error
	for _, host := range controllers[1:] {
		_, err := session.Run(ctx, host, look, nil)
		if remote.IsUnreachable(err) {
			unreachable = errors.Join(unreachable, err)
		} else if err != nil {
			apart = append(apart, host)
		}
	}
	if _, err := session.Run(ctx, first, asSlurm+"rm -f "+file, nil); err != nil {
		return fmt.Errorf("removing a file from %s on %s: %w", dir, first, err)
	}
	if len(apart) > 0 {
		return fmt.Errorf("%s on %s is not the directory that %s has there, and controllers that take over from each other share it: mount the shared storage on all of them, or choose another slurm.stateSaveLocation",
			dir, hostlist.Compress(apart), first)
	}
	return unreachable
}
