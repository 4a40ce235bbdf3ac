package main

import (
	"fmt"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/components/hosts"
	"github.com/gpucluster/pulumi-gpucluster/components/jobset"
	"github.com/gpucluster/pulumi-gpucluster/components/kubernetes"
	"github.com/gpucluster/pulumi-gpucluster/components/kueue"
	"github.com/gpucluster/pulumi-gpucluster/components/leaderworkerset"
	"github.com/gpucluster/pulumi-gpucluster/components/volcano"
	"github.com/gpucluster/pulumi-gpucluster/config"
)

func buildKubernetes(ctx *pulumi.Context, env *config.Environment, machines *hosts.Hosts, reached reach, assessment *heal.Assessment) (pulumi.Map, error) {
	gpus := &gpuSupport{ctx: ctx, env: env, charts: reached.charts, heal: assessment}
	cluster, err := kubernetes.NewCluster(ctx, env.Name, &kubernetes.ClusterArgs{
		Environment: env, Hosts: machines, After: reached.artifacts, Heal: assessment, First: gpus.install,
	})
	if err != nil {
		return nil, err
	}
	inside, err := gpus.wait(cluster)
	if err != nil {
		return nil, err
	}
	queues, err := declareQueues(ctx, env, cluster, reached, assessment)
	if err != nil {
		return nil, err
	}
	inside = append(inside, queues...)
	if env.Kubernetes.JobSet {
		sets, err := jobset.NewJobSet(ctx, env.Name+"-jobset", &jobset.JobSetArgs{
			Environment: env, Kubeconfig: cluster.Kubeconfig, Provider: cluster.Provider, Charts: reached.charts, Heal: assessment,
		})
		if err != nil {
			return nil, fmt.Errorf("jobset: %w", err)
		}
		inside = append(inside, sets)
	}
	if env.Kubernetes.LeaderWorkerSet {
		sets, err := leaderworkerset.NewLeaderWorkerSet(ctx, env.Name+"-leaderworkerset", &leaderworkerset.LeaderWorkerSetArgs{
			Environment: env, Kubeconfig: cluster.Kubeconfig, Provider: cluster.Provider, Charts: reached.charts, Heal: assessment,
		})
		if err != nil {
			return nil, fmt.Errorf("leaderworkerset: %w", err)
		}
		inside = append(inside, sets)
	}
	if err := cluster.Guard(ctx, inside...); err != nil {
		return nil, err
	}
	return cluster.Outputs(), nil
}

// declareQueues has jobs wait in the queues that the environment asks for.
func declareQueues(ctx *pulumi.Context, env *config.Environment, cluster *kubernetes.Cluster, reached reach, assessment *heal.Assessment) ([]pulumi.Resource, error) {
	switch env.Kubernetes.Queueing {
	case config.QueueingKueue:
		queues, err := kueue.NewQueues(ctx, env.Name+"-kueue", &kueue.QueuesArgs{
			Environment: env, Kubeconfig: cluster.Kubeconfig, Provider: cluster.Provider, Charts: reached.charts, Heal: assessment,
		})
		if err != nil {
			return nil, fmt.Errorf("kueue: %w", err)
		}
		return []pulumi.Resource{queues}, nil
	case config.QueueingVolcano:
		scheduler, err := volcano.NewScheduler(ctx, env.Name+"-volcano", &volcano.SchedulerArgs{
			Environment: env, Kubeconfig: cluster.Kubeconfig, Provider: cluster.Provider, Charts: reached.charts, Heal: assessment,
		})
		if err != nil {
			return nil, fmt.Errorf("volcano: %w", err)
		}
		return []pulumi.Resource{scheduler}, nil
	}
	return nil, nil
}
