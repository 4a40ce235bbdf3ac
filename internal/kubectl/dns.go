package kubectl

import (
	"context"
	"fmt"
)

// HasDNS is an error where somebody has taken away the cluster's DNS: kubeadm makes it
// only once.
func (c *Client) HasDNS(ctx context.Context) error {
	var found struct {
		Items []struct {
			Kind string `json:"kind"`
		} `json:"items"`
	}
	if err := c.get(ctx, &found, "deployment,service", "-n", "kube-system", "-l", "k8s-app=kube-dns"); err != nil {
		return fmt.Errorf("asking for the cluster's DNS: %w", err)
	}
	missing := map[string]bool{"Deployment": true, "Service": true}
	for _, item := range found.Items {
		delete(missing, item.Kind)
	}
	for _, kind := range []string{"Deployment", "Service"} {
		if missing[kind] {
			return fmt.Errorf("the cluster has lost the %s of its DNS", kind)
		}
	}
	return nil
}
