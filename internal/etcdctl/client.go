package etcdctl

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Client asks and commands one etcd cluster.
type Client struct {
	// Runner reaches a control-plane host, as root.
	Runner shell.Runner
}

// inContainer defines etcd, which runs etcdctl in the container of etcd, and
// snapshot.
//
//go:embed container.sh
var inContainer string

func (c *Client) script(ctx context.Context, command string) (string, error) {
	out, err := c.Runner.Run(ctx, inContainer+command+"\n", nil)
	return string(out), err
}

// Folder is where snapshots lie on a control-plane host.
const Folder = "/var/backups/gpucluster"

// Kept is how many snapshots a host keeps.
const Kept = 5

// Snapshot saves all data of the cluster to a new file below [Folder] on the
// host, which root alone may read, and returns its path. The oldest beyond
// [Kept] go. It needs the host's own member, and no other.
func (c *Client) Snapshot(ctx context.Context) (path string, err error) {
	out, err := c.script(ctx, fmt.Sprintf("snapshot %s %d", shell.Quote(Folder), Kept))
	if err != nil {
		return "", fmt.Errorf("saving etcd's data: %w", err)
	}
	return strings.TrimSpace(out), nil
}
