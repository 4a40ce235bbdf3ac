package kubectl

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Work is what holds GPUs of a node: pods of people.
type Work struct {
	// GPUs that they hold together.
	GPUs int
	// Pods by namespace and name.
	Pods []string
}

// String says how many GPUs are in use, and by what.
func (w Work) String() string {
	const most = 3
	pods := w.Pods
	if len(pods) > most {
		pods = append(pods[:most:most], fmt.Sprintf("%d more", len(pods)-most))
	}
	return fmt.Sprintf("GPUs in use: %d, by %s", w.GPUs, strings.Join(pods, ", "))
}

// Work tells what holds GPUs of a node, pods of ours left out.
func (c *Client) Work(ctx context.Context, node string) (Work, error) {
	var list struct {
		Items []struct {
			podObject
			Spec struct {
				Containers []struct {
					Resources struct {
						Limits map[string]string `json:"limits"`
					} `json:"resources"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"items"`
	}
	if err := c.get(ctx, &list, "pods", "--all-namespaces", "--field-selector", "spec.nodeName="+node); err != nil {
		return Work{}, fmt.Errorf("asking for the pods on %s: %w", node, err)
	}
	var work Work
	for _, o := range list.Items {
		pod, gpus := o.pod(), 0
		for _, container := range o.Spec.Containers {
			n, _ := strconv.Atoi(container.Resources.Limits[GPUResource]) // the API takes whole ones alone
			gpus += n
		}
		if gpus == 0 || pod.Ended() || pod.Namespace == Namespace {
			continue
		}
		work.GPUs += gpus
		work.Pods = append(work.Pods, pod.Namespace+"/"+pod.Name)
	}
	return work, nil
}
