package slurmstep

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// leastSpaceKiB is free at least where slurmctld keeps its state, however small
// that is.
const leastSpaceKiB = 256

// spaceCommand prints the free KiB of a folder's file system, and the size in
// bytes of the folder's largest file. A folder that is not there prints
// nothing.
const spaceCommand = `[ -d %[1]s ] || exit 0
df --output=avail -k %[1]s | tail -n 1
find %[1]s -maxdepth 1 -type f -printf '%%s\n' | sort -n | tail -n 1`

// roomForState fails when the disk under slurmctld's state is full. slurmctld
// goes on then and accepts jobs, but the next start of it would not know them.
func roomForState(ctx context.Context, session *remote.Session, host, slurmConf string) error {
	dir := stateDir(slurmConf)
	out, err := session.Run(ctx, host, fmt.Sprintf(spaceCommand, shell.Quote(dir)), nil)
	if err != nil {
		return fmt.Errorf("asking for the space under %s on %s: %w", dir, host, err)
	}
	free, need, ok := readSpace(out)
	if !ok || free >= need {
		return nil
	}
	return fmt.Errorf("the file system of %s on %s is full: %d KiB free, slurmctld needs %d KiB to save its state; "+
		"jobs accepted meanwhile would be lost at its next start: free some space and run the update again", dir, host, free, need)
}

// readSpace reads what spaceCommand printed, in KiB. slurmctld writes each file
// anew beside the old one, so the largest must fit once more.
func readSpace(out string) (free, need int64, ok bool) {
	fields := strings.Fields(out)
	if len(fields) == 0 {
		return 0, 0, false
	}
	free, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0, 0, false
	}
	need = leastSpaceKiB
	if len(fields) > 1 {
		if largest, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			need = max(need, (largest+1023)/1024)
		}
	}
	return free, need, true
}

// stateDir is where a slurm.conf lets slurmctld keep its state.
func stateDir(slurmConf string) string {
	lines, err := slurmconf.Parse(slurmConf)
	if err != nil {
		return slurmconf.DefaultStateSaveLocation // nodesOf has told
	}
	for _, line := range lines {
		if dir, ok := line.Get("StateSaveLocation"); ok {
			return dir
		}
	}
	return slurmconf.DefaultStateSaveLocation
}
