package kubectl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// isNoTaint reports whether kubectl complains that a taint to be removed is not
// there.
func isNoTaint(err error) bool {
	var failed *shell.ExitError
	return errors.As(err, &failed) && strings.Contains(failed.Stderr, "not found")
}

// Blocked says which pods a node could not be emptied of, and why. The node is
// as it was before.
type Blocked struct {
	// Node by name.
	Node string
	// Waited is how long they were waited for.
	Waited time.Duration
	// Pods that are left.
	Pods []Pod
	// Why is what the evictions were refused with, a line each.
	Why []string
}

func (b *Blocked) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s still runs pods after %s, and nothing was forced:", b.Node, b.Waited)
	for _, pod := range b.Pods {
		fmt.Fprintf(&text, "\n  %s/%s, %s", pod.Namespace, pod.Name, pod.Phase)
	}
	for _, line := range b.Why {
		text.WriteString("\n  " + line)
	}
	return text.String()
}

// Drain keeps new pods from a node and evicts those that run there, as their
// budgets allow it; pods of DaemonSets stay. Pods that nothing would start again
// are never evicted. The node is marked as cordoned by us, unless somebody had
// cordoned it before; [Client.Uncordon] takes that back. What is left after limit
// is a [*Blocked] error, and then it is taken back already.
func (c *Client) Drain(ctx context.Context, name string, limit time.Duration) error {
	before, err := c.Node(ctx, name)
	if err != nil {
		return err
	}
	ours := before.Marked || !before.Cordoned
	if ours {
		if _, err := c.run(ctx, nil, "annotate", "node", name, "--overwrite", markCordoned+"=yes"); err != nil {
			return fmt.Errorf("marking %s: %w", name, err)
		}
	}
	seconds := fmt.Sprintf("%ds", int(limit.Seconds()))
	// The data of an emptyDir goes with every eviction, by its definition.
	_, err = c.patiently(ctx, "drain", name, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout", seconds)
	var failed *shell.ExitError
	if err == nil || !errors.As(err, &failed) {
		return err
	}
	blocked := &Blocked{Node: name, Waited: limit, Why: refusals(failed.Stderr)}
	if blocked.Pods, err = c.evictable(ctx, name); err != nil {
		return err
	}
	if ours {
		return errors.Join(blocked, c.uncordon(ctx, name))
	}
	return blocked
}

// refusals are the lines of kubectl that say why an eviction does not happen,
// each once.
func refusals(stderr string) []string {
	var all []string
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		reason := strings.Contains(line, "error when evicting") || strings.Contains(line, "cannot delete")
		if reason && !slices.Contains(all, line) {
			all = append(all, line)
		}
	}
	return all
}

func (c *Client) evictable(ctx context.Context, node string) ([]Pod, error) {
	all, err := c.Pods(ctx, "--field-selector", "spec.nodeName="+node)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p Pod) bool { return p.DaemonSet || p.Ended() }), nil
}
