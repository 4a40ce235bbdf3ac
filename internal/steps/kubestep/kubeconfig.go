package kubestep

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// EnvBegan tells the step how the cluster began: one that began anew has other
// authorities.
const EnvBegan = "GPUCLUSTER_BEGAN"

func applyKubeconfig(ctx context.Context, in *step.Input) (any, error) {
	var spec KubeconfigSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	session, err := in.Connect(ctx)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	c, err := client(ctx, in, session, spec.ControlPlanes)
	if err != nil {
		return nil, err
	}
	content, err := c.Kubeconfig(ctx)
	return KubeconfigResult{Kubeconfig: content}, err
}

// KubeconfigSpec says who has the kubeconfig.
type KubeconfigSpec struct {
	// ControlPlanes by name.
	ControlPlanes []string `json:"controlPlanes"`
	// Endpoint of the API, which stands in it.
	Endpoint string `json:"endpoint"`
}

// KubeconfigResult holds a secret.
type KubeconfigResult struct {
	// Kubeconfig of the cluster's administrator.
	Kubeconfig string `json:"kubeconfig"`
}

// ReadKubeconfig reads the step's result.
func ReadKubeconfig(result string) (string, error) {
	var read KubeconfigResult
	if err := json.Unmarshal([]byte(result), &read); err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return read.Kubeconfig, nil
}
