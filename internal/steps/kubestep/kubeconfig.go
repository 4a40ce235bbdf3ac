package kubestep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"

	"go.yaml.in/yaml/v3"

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
	host, err := answering(ctx, in, session, spec.ControlPlanes)
	if err != nil {
		return nil, err
	}
	content, err := on(in, session, host).Kubeconfig(ctx)
	if err != nil || !spec.Direct {
		return KubeconfigResult{Kubeconfig: content}, err
	}
	target, _ := session.Target(host)
	name, _, _ := strings.Cut(spec.Endpoint, ":")
	content, err = lead(content, net.JoinHostPort(target.Address, apiPort), name)
	return KubeconfigResult{Kubeconfig: content}, err
}

// lead has a kubeconfig lead to an address, where the server shows a certificate
// for name. No error holds anything of the text.
func lead(kubeconfig, address, name string) (string, error) {
	var file map[string]any
	if yaml.Unmarshal([]byte(kubeconfig), &file) != nil {
		return "", errors.New("the administrator's kubeconfig is not one")
	}
	named, _ := file["clusters"].([]any)
	for _, entry := range named {
		fields, _ := entry.(map[string]any)
		if cluster, ok := fields["cluster"].(map[string]any); ok {
			cluster["server"], cluster["tls-server-name"] = "https://"+address, name
		}
	}
	out, err := yaml.Marshal(file)
	return string(out), err
}

// apiPort is where each control plane's own API server listens.
const apiPort = "6443"

// KubeconfigSpec says who has the kubeconfig.
type KubeconfigSpec struct {
	// ControlPlanes by name.
	ControlPlanes []string `json:"controlPlanes"`
	// Endpoint of the API, which stands in it.
	Endpoint string `json:"endpoint"`
	// Direct tells that the endpoint is a name of the hosts' own: the kubeconfig
	// leads to a control plane by its address, as the deployer reaches it.
	Direct bool `json:"direct,omitempty"`
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
