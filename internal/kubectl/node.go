package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
)

// TaintValidating is the key of the taint with which a worker registers and that
// keeps it closed until a pod of ours has run on it.
var TaintValidating = kubeconf.ValidatingTaint.Key

// markCordoned is the annotation of a node that we have cordoned. It is there
// before the node is, so that a run that is cut off leaves no cordon that
// nobody knows.
const markCordoned = "gpucluster/cordoned"

// GPUResource is the name by which pods ask for GPUs.
const GPUResource = "nvidia.com/gpu"

// Node is a host as the cluster knows it.
type Node struct {
	// Name of the host.
	Name string
	// Ready tells that its kubelet reports that it can run pods; Why is what it
	// says when not.
	Ready bool
	Why   string
	// Cordoned tells that no pod is scheduled to it, and Marked that this is our
	// doing: a run that has not come to its end yet, or that was cut off.
	Cordoned, Marked bool
	// Closed tells that it has the taint [TaintValidating].
	Closed bool
	// GPUs that pods may ask for.
	GPUs int
	// Version of its kubelet, for example "v1.36.3".
	Version string
	// Labels are all that it has.
	Labels map[string]string
}

type taint struct {
	Key string `json:"key"`
}

type nodeObject struct {
	Metadata struct {
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
		Labels      map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Unschedulable bool    `json:"unschedulable"`
		Taints        []taint `json:"taints"`
	} `json:"spec"`
	Status struct {
		Allocatable map[string]string `json:"allocatable"`
		Conditions  []struct {
			Type    string `json:"type"`
			Status  string `json:"status"`
			Reason  string `json:"reason"`
			Message string `json:"message"`
		} `json:"conditions"`
		NodeInfo struct {
			KubeletVersion string `json:"kubeletVersion"`
		} `json:"nodeInfo"`
	} `json:"status"`
}

func (o nodeObject) node() Node {
	n := Node{
		Name: o.Metadata.Name, Cordoned: o.Spec.Unschedulable, Marked: o.Metadata.Annotations[markCordoned] != "", Version: o.Status.NodeInfo.KubeletVersion,
		Labels: o.Metadata.Labels,
		Closed: slices.ContainsFunc(o.Spec.Taints, func(t taint) bool { return t.Key == TaintValidating }),
		Why:    "its kubelet has not reported",
	}
	for _, condition := range o.Status.Conditions {
		if condition.Type == "Ready" {
			n.Ready, n.Why = condition.Status == "True", condition.Reason+": "+condition.Message
		}
	}
	// An extended resource is a whole number, or absent.
	n.GPUs, _ = strconv.Atoi(o.Status.Allocatable[GPUResource])
	return n
}

// Node asks for one node. The error is [ErrNotFound] where there is none.
func (c *Client) Node(ctx context.Context, name string) (Node, error) {
	var o nodeObject
	if err := c.get(ctx, &o, "node", name); err != nil {
		return Node{}, fmt.Errorf("asking for node %s: %w", name, err)
	}
	return o.node(), nil
}

// Nodes lists all nodes, by name.
func (c *Client) Nodes(ctx context.Context) ([]Node, error) {
	var list struct {
		Items []nodeObject `json:"items"`
	}
	if err := c.get(ctx, &list, "nodes"); err != nil {
		return nil, fmt.Errorf("asking for the nodes: %w", err)
	}
	all := make([]Node, len(list.Items))
	for i, o := range list.Items {
		all[i] = o.node()
	}
	return all, nil
}

// WaitReady waits until a node is ready and offers at least so many GPUs. An error
// tells of pods on it that do not run, as those that bring the GPUs have to.
func (c *Client) WaitReady(ctx context.Context, name string, gpus int, limit time.Duration) error {
	err := c.until(ctx, limit, name, func(ctx context.Context) error {
		node, err := c.Node(ctx, name)
		switch {
		case err != nil:
			return err
		case !node.Ready:
			return errors.New(node.Why)
		case node.GPUs < gpus:
			return fmt.Errorf("it offers %d GPUs, and %d are declared", node.GPUs, gpus)
		}
		return nil
	})
	return c.explained(ctx, err, "pods", "--all-namespaces", "--field-selector", "spec.nodeName="+name)
}

// WaitRelease waits until the kubelet of a node reports that it is of that
// release, such as "v1.36.3", and can run pods.
func (c *Client) WaitRelease(ctx context.Context, name, version string, limit time.Duration) error {
	return c.until(ctx, limit, name, func(ctx context.Context) error {
		node, err := c.Node(ctx, name)
		switch {
		case err != nil:
			return err
		case node.Version != version:
			return fmt.Errorf("its kubelet is %s, and not %s yet", node.Version, version)
		case !node.Ready:
			return errors.New(node.Why)
		}
		return nil
	})
}

// Release is that of the API server which is asked, such as "v1.36.3".
func (c *Client) Release(ctx context.Context) (string, error) {
	out, err := c.run(ctx, nil, "get", "--raw", "/version")
	if err != nil {
		return "", fmt.Errorf("asking for the release of the API server: %w", err)
	}
	var version struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := json.Unmarshal([]byte(out), &version); err != nil {
		return "", fmt.Errorf("reading the release of the API server: %w", err)
	}
	return version.GitVersion, nil
}

// Uncordon takes back what [Client.Drain] did. A node that somebody else has
// cordoned stays so.
func (c *Client) Uncordon(ctx context.Context, name string) error {
	node, err := c.Node(ctx, name)
	if err != nil || !node.Marked {
		return err
	}
	return c.uncordon(ctx, name)
}

func (c *Client) uncordon(ctx context.Context, name string) error {
	if _, err := c.run(ctx, nil, "uncordon", name); err != nil {
		return fmt.Errorf("letting %s take pods again: %w", name, err)
	}
	if _, err := c.run(ctx, nil, "annotate", "node", name, markCordoned+"-"); err != nil {
		return fmt.Errorf("letting %s take pods again: %w", name, err)
	}
	return nil
}

// Open lets pods of others onto a closed node.
func (c *Client) Open(ctx context.Context, name string) error {
	if _, err := c.run(ctx, nil, "taint", "node", name, TaintValidating+"-"); err != nil && !isNoTaint(err) {
		return fmt.Errorf("opening %s: %w", name, err)
	}
	return nil
}

// Close keeps pods of others from a node; those that run there stay.
func (c *Client) Close(ctx context.Context, name string) error {
	if _, err := c.run(ctx, nil, "taint", "node", name, "--overwrite", TaintValidating+"=:NoSchedule"); err != nil {
		return fmt.Errorf("closing %s: %w", name, err)
	}
	return nil
}

// Label gives a node exactly these labels of ours, beside those that others give
// it: what was given before and is not among them goes.
func (c *Client) Label(ctx context.Context, name string, labels map[string]string) error {
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"name": name, "labels": labels},
	})
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, string(text)); err != nil {
		if strings.Contains(err.Error(), "conflict") {
			return fmt.Errorf("labelling %[1]s: %[2]w\nsomebody else has set it, and it is left alone: take it away (kubectl label node %[1]s NAME-) and run it again", name, err)
		}
		return fmt.Errorf("labelling %s: %w", name, err)
	}
	return nil
}

// DeleteNode forgets a node. It succeeds where there is none.
func (c *Client) DeleteNode(ctx context.Context, name string) error {
	if _, err := c.run(ctx, nil, "delete", "node", name, "--ignore-not-found"); err != nil {
		return fmt.Errorf("removing node %s from the cluster: %w", name, err)
	}
	return nil
}
