package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
)

// newCheckCommand tells whether an environment file is right, without touching
// anything.
func newCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check <environment>",
		Short: "Report everything that is wrong with an environment file",
		Long: "Check an environment file: keys, types, references, hardware, names and the scheduler's rules.\n" +
			"Every problem is reported at once with its line and what to write instead. Nothing is touched.",
		Example: "  gpucluster check lab-slurm\n  gpucluster check path/to/Pulumi.mine.yaml",
		Args:    oneEnvironment,
		RunE: func(cmd *cobra.Command, args []string) error {
			env, report, err := loadEnvironment(args[0])
			if err != nil {
				return err
			}
			if len(report.Problems) > 0 {
				fmt.Fprint(cmd.ErrOrStderr(), report)
			}
			return summarize(cmd.OutOrStdout(), env, len(report.Problems))
		},
	}
}

// summarize says in a few lines what an environment holds.
func summarize(out io.Writer, env *config.Environment, warnings int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "environment\t%s\n", env.Name)
	switch {
	case env.Kubernetes != nil:
		cluster := env.KubernetesCluster()
		fmt.Fprintf(w, "scheduler\t%s %s, API at %s\n", env.Scheduler, cluster.Version, cluster.Endpoint)
	case env.Slurm != nil:
		fmt.Fprintf(w, "scheduler\t%s %s, cluster %s\n", env.Scheduler, env.Slurm.Version, env.Slurm.ClusterName)
	}
	for _, role := range config.Roles {
		hosts := env.HostsWithRole(role)
		if len(hosts) == 0 {
			continue
		}
		var names []string
		for _, host := range hosts {
			names = append(names, host.Name)
		}
		fmt.Fprintf(w, "%s\t%d: %s\n", role, len(names), hostlist.Compress(names, hostlist.KeepOrder()))
	}
	fmt.Fprintf(w, "GPUs\t%s\n", gpuSummary(env))
	switch {
	case env.Kubernetes != nil:
		fmt.Fprintf(w, "queueing\t%s\n", env.Kubernetes.Queueing)
		fmt.Fprintf(w, "teams\t%s\n", teamSummary(env.Kubernetes.Teams))
	case env.Slurm != nil:
		var partitions []string
		for _, partition := range env.Slurm.Partitions {
			partitions = append(partitions, partition.Name)
		}
		fmt.Fprintf(w, "partitions\t%s\n", strings.Join(partitions, ", "))
	}
	plural := "s"
	if warnings == 1 {
		plural = ""
	}
	fmt.Fprintf(w, "result\tno errors, %d warning%s\n", warnings, plural)
	return w.Flush()
}

// teamSummary names the teams, with the GPUs that are their own.
func teamSummary(teams []config.Team) string {
	if len(teams) == 0 {
		return "none"
	}
	var all []string
	for _, team := range teams {
		var own []string
		for _, kind := range slices.Sorted(maps.Keys(team.GPUs)) {
			own = append(own, fmt.Sprintf("%d %s", team.GPUs[kind].Nominal, kind))
		}
		text := team.Name
		if len(own) > 0 {
			text += " (" + strings.Join(own, ", ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func gpuSummary(env *config.Environment) string {
	count := map[string]int{}
	total := 0
	for _, host := range slices.Concat(env.HostsWithRole(config.RoleCompute), env.HostsWithRole(config.RoleWorker)) {
		for _, gpu := range host.Profile.GPUs {
			count[gpu.Type] += gpu.Count
			total += gpu.Count
		}
	}
	if total == 0 {
		return "none"
	}
	var types []string
	for name, n := range count {
		types = append(types, fmt.Sprintf("%d %s", n, name))
	}
	slices.Sort(types)
	return fmt.Sprintf("%d: %s", total, strings.Join(types, ", "))
}
