package kubectl

import (
	"context"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/podstate"
)

// explained adds to an error what the cluster says of pods that do not run, where
// it says something. The words select them, as kubectl get takes them. Where nobody
// can be asked, the error is what is known.
func (c *Client) explained(ctx context.Context, err error, pods ...string) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	found, failed := c.run(ctx, nil, append([]string{"get", "-o", "json"}, pods...)...)
	if failed != nil {
		return err
	}
	events, failed := c.run(ctx, nil, "get", "-o", "json", "events", "--all-namespaces", "--field-selector", "type=Warning,involvedObject.kind=Pod")
	if failed != nil {
		return err
	}
	if troubles, failed := podstate.Troubles([]byte(found), []byte(events)); failed == nil && troubles != "" {
		return fmt.Errorf("%w\n%s", err, troubles)
	}
	return err
}
