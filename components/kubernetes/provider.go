package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"

	api "github.com/pulumi/pulumi-kubernetes/sdk/v4/go/kubernetes"
	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
)

const (
	// requestsPerSecond and requestsAtOnce are more than a client's usual 5 and 10:
	// an environment has hundreds of objects.
	requestsPerSecond = 50
	requestsAtOnce    = 100
	// answerLimit is how long the API may take to answer, in seconds, so that one
	// that is down is told soon.
	answerLimit = 20
)

// declareProvider makes the way to the cluster's objects. It knows the cluster by
// its authority: renewed certificates change nothing, while all objects are made
// anew in a cluster that began anew.
func (b *builder) declareProvider() error {
	identity := b.Kubeconfig.ApplyT(func(kubeconfig string) (string, error) {
		client, err := kubeapi.New([]byte(kubeconfig))
		if err != nil {
			return "", err
		}
		digest := sha256.Sum256(client.Authority())
		return b.name + "-" + hex.EncodeToString(digest[:6]), nil
	}).(pulumi.StringOutput)
	provider, err := api.NewProvider(b.ctx, b.name+"-api", &api.ProviderArgs{
		Kubeconfig:        b.Kubeconfig,
		ClusterIdentifier: pulumi.Unsecret(identity).(pulumi.StringOutput),
		KubeClientSettings: api.KubeClientSettingsArgs{
			Qps: pulumi.Float64(requestsPerSecond), Burst: pulumi.Int(requestsAtOnce), Timeout: pulumi.Int(answerLimit),
		},
	}, pulumi.Parent(b.Cluster))
	b.Provider = provider
	return err
}
