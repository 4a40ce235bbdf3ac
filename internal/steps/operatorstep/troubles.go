package operatorstep

import (
	"context"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubeapi"
	"github.com/gpucluster/pulumi-gpucluster/internal/podstate"
)

// explained adds to an error what the cluster says of the operators' pods that do
// not run. Where it cannot be asked, the error is what is known.
func explained(ctx context.Context, api *kubeapi.Client, namespaces []string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	for _, namespace := range namespaces {
		path := "/api/v1/namespaces/" + namespace
		pods, failed := api.Get(ctx, path+"/pods")
		if failed != nil {
			continue
		}
		events, failed := api.Get(ctx, path+"/events?fieldSelector=type%3DWarning")
		if failed != nil {
			continue
		}
		if troubles, failed := podstate.Troubles(pods, events); failed == nil && troubles != "" {
			err = fmt.Errorf("%w\n%s", err, troubles)
		}
	}
	return err
}
