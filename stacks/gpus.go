package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/kubernetes"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

// gpuSupport is what gives the GPUs of servers to pods; a lab has its own.
type gpuSupport struct {
	ctx    *pulumi.Context
	env    *config.Environment
	charts pulumi.StringInput
	heal   *heal.Assessment

	operator *gpuoperator.Operator
}

// install declares the operator, without which no worker with GPUs passes its
// validation.
func (g *gpuSupport) install(cluster *kubernetes.Cluster) ([]pulumi.Resource, error) {
	if !g.env.Kubernetes.InstallsGPUOperator() {
		return nil, nil
	}
	operator, err := gpuoperator.NewOperator(g.ctx, g.env.Name+"-gpus", &gpuoperator.OperatorArgs{
		Environment: g.env, Kubeconfig: cluster.Kubeconfig, Provider: cluster.Provider, Charts: g.charts, Heal: g.heal,
	})
	if err != nil {
		return nil, fmt.Errorf("GPU Operator: %w", err)
	}
	g.operator = operator
	return operator.Installed, nil
}

// wait declares the wait for its work on all workers, and returns what lies in the
// cluster because of it.
func (g *gpuSupport) wait(cluster *kubernetes.Cluster) ([]pulumi.Resource, error) {
	if g.operator == nil {
		return nil, nil
	}
	ready, err := g.operator.Wait(g.ctx, cluster.Built()...)
	if err != nil {
		return nil, fmt.Errorf("GPU Operator: %w", err)
	}
	return []pulumi.Resource{g.operator, ready}, nil
}
