package kubestep

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubectl"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// letServe has the cluster's authority vouch for the kubelet of a host, under
// the host's own name and addresses alone.
func letServe(ctx context.Context, cluster *kubectl.Client, session *remote.Session, host string) error {
	addresses, err := addressesOf(ctx, cluster, session, host)
	if err != nil {
		return err
	}
	return cluster.LetServe(ctx, host, addresses, readyLimit)
}

// probeServing says that a kubelet waits for its certificate: for the first one,
// or for another before that ends.
func probeServing(ctx context.Context, cluster *kubectl.Client, host string) error {
	problem, err := cluster.ServingProblem(ctx, host)
	if err == nil && problem != "" {
		err = fmt.Errorf("%s: %s", host, problem)
	}
	return err
}

// addressesOf are those at which a host is known. Where the environment names no
// address, they are those that the host says it has; not that of another node,
// in whose place it could serve.
func addressesOf(ctx context.Context, cluster *kubectl.Client, session *remote.Session, host string) ([]string, error) {
	if target, ok := session.Target(host); ok && net.ParseIP(target.Address) != nil {
		return []string{target.Address}, nil
	}
	out, err := session.Run(ctx, host, "hostname -I", nil)
	if err != nil {
		return nil, err
	}
	taken, err := cluster.Addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(out), func(address string) bool { return slices.Contains(taken, address) }), nil
}
