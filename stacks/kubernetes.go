package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/kubernetes"
	"github.com/gpucluster/pulumi-gpucluster/components/kueue"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

func buildKubernetes(ctx *pulumi.Context, env *config.Environment, machines *hosts.Hosts, reached reach, assessment *heal.Assessment) (pulumi.Map, error) {
	switch env.Kubernetes.Queueing {
	case config.QueueingNone, config.QueueingKueue:
	default:
		return nil, fmt.Errorf("the queueing %s can be described and checked, but this release does not build it", env.Kubernetes.Queueing)
	}
	cluster, err := kubernetes.NewCluster(ctx, env.Name, &kubernetes.ClusterArgs{
		Environment: env, Hosts: machines, After: reached.artifacts, Heal: assessment,
	})
	if err != nil {
		return nil, err
	}
	var inside []pulumi.Resource
	if env.Kubernetes.Queueing == config.QueueingKueue {
		queues, err := kueue.NewQueues(ctx, env.Name+"-kueue", &kueue.QueuesArgs{
			Environment: env, Kubeconfig: cluster.Kubeconfig, Provider: cluster.Provider, Charts: reached.charts, Heal: assessment,
		})
		if err != nil {
			return nil, fmt.Errorf("kueue: %w", err)
		}
		inside = append(inside, queues)
	}
	if err := cluster.Guard(ctx, inside...); err != nil {
		return nil, err
	}
	return cluster.Outputs(), nil
}
