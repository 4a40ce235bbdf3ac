package main

import "github.com/spf13/cobra"

// commands are all of the program's commands, in the order of its help.
var commands = []func() *cobra.Command{
	newCheckCommand,
	newRenderCommand,
	newStatusCommand,
	newSSHCommand,
	newStepCommand,
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "gpucluster",
		Short: "A Slurm cluster on GPU hosts, from one environment file",
		// A failed run is not a question about usage, and main prints the error.
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, command := range commands {
		root.AddCommand(command())
	}
	return root
}
