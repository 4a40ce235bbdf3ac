package kubectl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/podstate"
)

// Namespace is where objects of ours live.
const Namespace = "gpucluster-system"

// Pod is a pod as the cluster knows it.
type Pod struct {
	Namespace, Name, Node, Phase string
	// DaemonSet tells that every node has one of its kind.
	DaemonSet bool
	// Why is what keeps it from running, where something does.
	Why string
}

// Ended tells that none of its containers runs or will run again.
func (p Pod) Ended() bool { return p.Phase == "Succeeded" || p.Phase == "Failed" }

type podObject struct {
	Metadata struct {
		Namespace       string `json:"namespace"`
		Name            string `json:"name"`
		OwnerReferences []struct {
			Kind string `json:"kind"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status podstate.Status `json:"status"`
}

func (o podObject) pod() Pod {
	p := Pod{Namespace: o.Metadata.Namespace, Name: o.Metadata.Name, Node: o.Spec.NodeName, Phase: o.Status.Phase, Why: o.Status.Why()}
	for _, owner := range o.Metadata.OwnerReferences {
		p.DaemonSet = p.DaemonSet || owner.Kind == "DaemonSet"
	}
	return p
}

// Pods lists the pods of all namespaces that the words, as kubectl takes them,
// select.
func (c *Client) Pods(ctx context.Context, words ...string) ([]Pod, error) {
	var list struct {
		Items []podObject `json:"items"`
	}
	if err := c.get(ctx, &list, append([]string{"pods", "--all-namespaces"}, words...)...); err != nil {
		return nil, fmt.Errorf("asking for pods: %w", err)
	}
	all := make([]Pod, len(list.Items))
	for i, o := range list.Items {
		all[i] = o.pod()
	}
	return all, nil
}

// Check is a pod of ours that asks for GPUs on one node and tells what it sees.
type Check struct {
	// Name of the pod.
	Name string
	// Node that it runs on, closed or not.
	Node string
	// Image and Command of its container.
	Image   string
	Command []string
	// GPUs that it asks for.
	GPUs int
	// Limit bounds the whole. Default 2 min.
	Limit time.Duration
}

// manifest is the pod as the API server takes it.
func (p Check) manifest() (string, error) {
	container := map[string]any{
		"name": "check", "image": p.Image, "command": p.Command,
		"securityContext": map[string]any{"allowPrivilegeEscalation": false},
	}
	if p.GPUs > 0 {
		container["resources"] = map[string]any{"limits": map[string]any{GPUResource: fmt.Sprint(p.GPUs)}}
	}
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": p.Name, "namespace": Namespace, "labels": map[string]any{"app.kubernetes.io/managed-by": "gpucluster"}},
		"spec": map[string]any{
			"restartPolicy": "Never",
			// The scheduler places it, so that its GPUs are counted.
			"nodeSelector": map[string]any{"kubernetes.io/hostname": p.Node},
			"tolerations": []any{
				map[string]any{"key": TaintValidating, "operator": "Exists", "effect": "NoSchedule"}, map[string]any{"key": GPUResource, "operator": "Exists"},
				// A node that somebody has cordoned is validated too, and stays so.
				map[string]any{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
			},
			"automountServiceAccountToken":  false,
			"terminationGracePeriodSeconds": 5,
			"containers":                    []any{container},
		},
	})
	return string(text), err
}

// RunCheck runs the pod to its end and returns what it wrote. Whatever happens,
// no pod of that name is left.
func (c *Client) RunCheck(ctx context.Context, p Check) (output string, err error) {
	if p.Limit == 0 {
		p.Limit = 2 * time.Minute
	}
	manifest, err := p.manifest()
	if err != nil {
		return "", err
	}
	// One that an interrupted run has left says nothing about now.
	if err := c.deletePod(ctx, p.Name); err != nil {
		return "", err
	}
	defer func() {
		cleaning, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		err = errors.Join(err, c.deletePod(cleaning, p.Name))
	}()
	if _, err := c.run(ctx, []byte(manifest), "create", "-f", "-"); err != nil {
		return "", fmt.Errorf("starting a pod on %s: %w", p.Node, err)
	}
	var pod Pod
	err = c.until(ctx, p.Limit, "a pod on "+p.Node, func(ctx context.Context) error {
		var o podObject
		if err := c.get(ctx, &o, "pod", "-n", Namespace, p.Name); err != nil {
			return err
		}
		if pod = o.pod(); pod.Ended() {
			return nil
		}
		return errors.New(strings.TrimSuffix("it is "+pod.Phase+": "+pod.Why, ": "))
	})
	if err != nil {
		return "", c.explained(ctx, err, "pods", "-n", Namespace, "--field-selector", "metadata.name="+p.Name)
	}
	output, err = c.run(ctx, nil, "logs", "-n", Namespace, p.Name)
	if err == nil && pod.Phase != "Succeeded" {
		err = fmt.Errorf("the pod on %s failed: %s", p.Node, strings.TrimSpace(pod.Why+" "+output))
	}
	return output, err
}

func (c *Client) deletePod(ctx context.Context, name string) error {
	if _, err := c.run(ctx, nil, "delete", "pod", "-n", Namespace, name, "--ignore-not-found", "--wait"); err != nil {
		return fmt.Errorf("removing pod %s: %w", name, err)
	}
	return nil
}
