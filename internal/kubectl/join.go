package kubectl

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
)

// Token makes a bootstrap token that lets hosts in for as long as life says, and
// returns it with the cluster's certificate authority, by which they know that
// it is the right one. The token is a secret.
func (c *Client) Token(ctx context.Context, life time.Duration) (token, authority string, err error) {
	if authority, err = c.Authority(ctx); err != nil {
		return "", "", err
	}
	out, err := c.command(ctx, nil, "kubeadm", "token", "create", "--kubeconfig", AdminConf, "--ttl", life.String(),
		"--description", "made by gpucluster for one host")
	if err != nil {
		return "", "", fmt.Errorf("making a token: %w", err)
	}
	return strings.TrimSpace(out), authority, nil
}

// Authority is the cluster's certificate authority, as PEM: hosts know the API by
// it. One that began anew has another.
func (c *Client) Authority(ctx context.Context) (string, error) {
	authority, err := c.command(ctx, nil, "cat", "/etc/kubernetes/pki/ca.crt")
	if err != nil {
		return "", fmt.Errorf("reading the cluster's certificate authority: %w", err)
	}
	return authority, nil
}

// ForgetToken takes a token back. Its life would end anyhow. The token travels
// over standard input: only its first part, which is no secret, is named.
func (c *Client) ForgetToken(ctx context.Context, token string) error {
	id, _, _ := strings.Cut(token, ".")
	if _, err := c.Runner.Run(ctx, shell.Words("kubeadm", "token", "delete", "--kubeconfig", AdminConf, id), nil); err != nil {
		return fmt.Errorf("taking a token back: %w", err)
	}
	return nil
}

// Authorities are the keys and certificates that a further control plane needs
// to speak for the cluster, by path below /etc/kubernetes/pki. They are secrets.
func (c *Client) Authorities(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	for _, name := range []string{"ca.crt", "ca.key", "sa.key", "sa.pub", "front-proxy-ca.crt", "front-proxy-ca.key", "etcd/ca.crt", "etcd/ca.key"} {
		content, err := c.command(ctx, nil, "cat", "/etc/kubernetes/pki/"+name)
		if err != nil {
			return nil, fmt.Errorf("reading the cluster's authorities: %w", err)
		}
		all[name] = content
	}
	return all, nil
}

// Kubeconfig is the administrator's, which is a secret.
func (c *Client) Kubeconfig(ctx context.Context) (string, error) {
	content, err := c.command(ctx, nil, "cat", AdminConf)
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig: %w", err)
	}
	return content, nil
}
