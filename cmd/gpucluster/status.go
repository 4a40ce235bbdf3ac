package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
)

// newStatusCommand shows an environment as it is now.
func newStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status <environment>",
		Short: "Show an environment as it is now: hosts, owners, partitions, jobs",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return status(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
}

func status(ctx context.Context, environment string, out io.Writer) error {
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
	listing, err := firstAnswer(ctx, session, outputs.Controllers, "sinfo -o '%12P %5a %.11l %.6D %.11T %16G %N' && echo && squeue -o '%.8i %.12P %.20j %.10u %.10T %.10M %.6D %R'")
	if err != nil {
		return err
	}
	fmt.Fprint(out, listing)
	if outcome, ok := outputs.SmokeOutcome(); ok {
		fmt.Fprintf(out, "\nsmoke job: %s: %s%s\n", outcome.Status, outcome.Detail, outcome.Reason)
	}
	if len(outputs.Logins) > 0 {
		fmt.Fprintf(out, "\nlog in:    tools/stack.sh ssh %s %s\n", environment, outputs.Logins[0])
		fmt.Fprintf(out, "run a job: tools/stack.sh ssh %s %s -- srun -N2 --gres=gpu:1 nvidia-smi -L\n", environment, outputs.Logins[0])
	}
	return nil
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
