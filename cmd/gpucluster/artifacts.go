package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/gpuoperator"
	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubeconf"
	"github.com/gpucluster/pulumi-gpucluster/internal/queues"
	"github.com/gpucluster/pulumi-gpucluster/internal/volcano"
)

// newArtifactsCommand tells what an environment's hosts fetch.
func newArtifactsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "artifacts",
		Short: "Tell what the hosts of a Kubernetes environment fetch",
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "list <environment>",
		Short: "List images, programs, charts and packages, and where they come from",
		Long: "List every image, program, chart and package that the hosts of a Kubernetes environment need, a line each:\n" +
			"what it is, its name with its version, and where the environment says that it comes from. A mirror needs all of them.",
		Example: "  gpucluster artifacts list lab-kubernetes",
		Args:    oneEnvironment,
		RunE: func(cmd *cobra.Command, args []string) error {
			env, report, err := loadEnvironment(args[0])
			if err != nil {
				return err
			}
			if len(report.Problems) > 0 {
				fmt.Fprint(cmd.ErrOrStderr(), report)
			}
			if env.Kubernetes == nil {
				return fmt.Errorf("%s: only what Kubernetes needs is listed, and the scheduler is %s", env.Name, env.Scheduler)
			}
			return listArtifacts(cmd.OutOrStdout(), env)
		},
	})
	return cmd
}

func listArtifacts(out io.Writer, env *config.Environment) error {
	model, files := env.KubernetesCluster(), env.KubernetesFiles()
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(kind, name, from string) { fmt.Fprintf(w, "%s\t%s\t%s\n", kind, name, from) }
	images := append(files.ImageNames(), model.CheckImage)
	kueue := model.Queueing == config.QueueingKueue
	if kueue {
		images = append(images, "registry.k8s.io/kueue/kueue:v"+queues.ChartVersion)
	}
	if model.Queueing == config.QueueingVolcano {
		images = append(images, volcano.Images()...)
	}
	kinds := jobKinds(env.Kubernetes)
	for _, kind := range kinds {
		images = append(images, kind.Image())
	}
	gpus := env.Kubernetes.InstallsGPUOperator()
	if gpus {
		images = append(images, gpuoperator.Images(env.KubernetesGPUs())...)
	}
	slices.Sort(images)
	for _, image := range images {
		line("image", image, cmp.Or(model.Artifacts.Registry, "its own registry"))
	}
	for _, name := range kubeconf.Binaries {
		line("program", name+" "+model.Version, model.BinariesFolder())
	}
	if kueue {
		line("chart", "kueue "+queues.ChartVersion, cmp.Or(model.Artifacts.Charts, "oci://registry.k8s.io/kueue/charts"))
	}
	if model.Queueing == config.QueueingVolcano {
		line("chart", volcano.ReleaseName+" "+volcano.ChartVersion, cmp.Or(model.Artifacts.Charts, volcano.Repository))
	}
	if gpus {
		line("chart", gpuoperator.ReleaseName+" "+gpuoperator.ChartVersion, cmp.Or(model.Artifacts.Charts, gpuoperator.Repository))
		if env.Kubernetes.RDMA != nil {
			line("chart", gpuoperator.NetworkReleaseName+" "+gpuoperator.NetworkChartVersion, cmp.Or(model.Artifacts.Charts, gpuoperator.Repository))
		}
	}
	for _, kind := range kinds {
		line("chart", kind.Chart+" "+kind.Version, cmp.Or(model.Artifacts.Charts, kind.MakersCharts))
	}
	for _, name := range env.KubernetesFiles().PackageNames() {
		line("package", name, cmp.Or(model.Artifacts.APT, "the host's own sources"))
	}
	return w.Flush()
}

// jobKinds are the further kinds of jobs that an environment has.
func jobKinds(k *config.Kubernetes) []jobkind.Kind {
	var kinds []jobkind.Kind
	if k.JobSet {
		kinds = append(kinds, jobkind.JobSet)
	}
	if k.LeaderWorkerSet {
		kinds = append(kinds, jobkind.LeaderWorkerSet)
	}
	return kinds
}
