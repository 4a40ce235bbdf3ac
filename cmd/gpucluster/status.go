package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
)

// newStatusCommand shows an environment as it is now.
func newStatusCommand() *cobra.Command {
	var login string
	cmd := &cobra.Command{
		Use:   "status <environment>",
		Short: "Show an environment as it is now: hosts and what runs there",
		Long: "Show an environment as it is now: hosts, partitions and jobs, or nodes and pods.\n" +
			"The environment is a stack of the Pulumi project in the current folder.",
		Args: oneEnvironment,
		RunE: func(cmd *cobra.Command, args []string) error {
			if login == "" {
				login = "gpucluster ssh " + args[0]
			}
			return status(cmd.Context(), args[0], login, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&login, "ssh", "", "command that logs in to hosts, as it is to be shown (default gpucluster ssh <environment>)")
	return cmd
}

func status(ctx context.Context, environment, login string, out io.Writer) error {
	outputs, err := stackoutput.Read(ctx, environment)
	if err != nil {
		return err
	}
	gpus := 0
	for _, entry := range outputs.Ledger {
		for _, count := range entry.GPUs {
			gpus += count
		}
	}
	fmt.Fprintf(out, "%s: scheduler %s, %d compute hosts with %d GPUs, controller %s\n\n",
		environment, outputs.Scheduler, len(outputs.Ledger), gpus, outputs.Controllers[0])
	session, err := outputs.Connect(ctx)
	if err != nil {
		return err
	}
	defer session.Close()
	show := slurmStatus
	if outputs.Scheduler == string(config.SchedulerKubernetes) {
		show = kubernetesStatus
	}
	listing, err := firstAnswer(ctx, session, outputs.Controllers, show.listing)
	if err != nil {
		return err
	}
	fmt.Fprint(out, listing)
	if outcome, ok := outputs.SmokeOutcome(); ok {
		fmt.Fprintf(out, "\n%s: %s: %s%s\n", show.proof, outcome.Status, outcome.Detail, outcome.Reason)
	}
	if show.more != nil {
		fmt.Fprint(out, show.more(ctx, session, outputs.Controllers))
	}
	host := loginHost(outputs)
	fmt.Fprintf(out, "\nlog in:    %s %s\n", login, host)
	next, err := show.next(ctx, session, outputs.Controllers)
	if err == nil && next != "" {
		fmt.Fprintf(out, "%s %s %s -- %s\n", show.word, login, host, next)
	}
	return err
}

// view is how the clusters of a scheduler show themselves.
type view struct {
	// listing is the command that lists hosts and what runs there.
	listing string
	// proof names what the last update ran to prove the cluster.
	proof string
	// more are further lines about the controllers. Optional.
	more func(ctx context.Context, session *remote.Session, controllers []string) string
	// word stands before next.
	word string
	// next is a command for people, on the host that they log in to; empty where
	// there is nothing to run on.
	next func(ctx context.Context, session *remote.Session, controllers []string) (string, error)
}

var slurmStatus = view{
	listing: "sinfo -o '%12P %5a %.11l %.6D %.11T %16G %N' && echo && squeue -o '%.8i %.12P %.20j %.10u %.10T %.10M %.6D %R'",
	proof:   "smoke job",
	word:    "run a job:",
	next: func(ctx context.Context, session *remote.Session, controllers []string) (string, error) {
		partitions, err := firstAnswer(ctx, session, controllers, "sinfo -h -o '%P %D %G'")
		return firstJob(partitions), err
	},
}

// loginHost is where people log in: a controller has Slurm's commands, too.
func loginHost(outputs stackoutput.Outputs) string {
	return slices.Concat(outputs.Logins, outputs.Controllers)[0]
}

// firstJob is a job that the cluster can run, from what sinfo says: a line for
// hosts alike with partition, their number and their GPUs. The default
// partition has an asterisk; without one, the job names the first. It is empty
// where no partition has a host.
func firstJob(sinfo string) string {
	partition, hosts, gpus, found := "", 0, false, false
	for _, line := range strings.Split(sinfo, "\n") {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		count, err := strconv.Atoi(fields[1])
		isDefault := strings.HasSuffix(fields[0], "*")
		if err != nil || count == 0 || found && (!isDefault || partition == "") {
			continue
		}
		partition, hosts, gpus, found = " -p "+fields[0], min(count, 2), strings.Contains(fields[2], "gpu"), true
		if isDefault {
			partition = ""
		}
	}
	switch {
	case !found:
		return ""
	case gpus:
		return fmt.Sprintf("srun%s -N%d --gres=gpu:1 nvidia-smi -L", partition, hosts)
	}
	return fmt.Sprintf("srun%s -N%d hostname", partition, hosts)
}

// firstAnswer runs a command on the first of the hosts that can be reached.
func firstAnswer(ctx context.Context, session *remote.Session, hosts []string, command string) (string, error) {
	var last error
	for _, host := range hosts {
		out, err := session.Run(ctx, host, command, nil)
		if err == nil || !remote.IsUnreachable(err) {
			return out, err
		}
		last = err
	}
	return "", last
}
