package main

import (
	"runtime/debug"

	"github.com/spf13/cobra"
)

// commands are all of the program's commands, in the order of its help.
var commands = []func() *cobra.Command{
	newCheckCommand,
	newRenderCommand,
	newArtifactsCommand,
	newStatusCommand,
	newSSHCommand,
	newStepCommand,
}

// version is that of the module as which the program was built: a release, or
// (devel) in a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "gpucluster",
		Short:   "A Slurm or Kubernetes cluster on GPU hosts, from one environment file",
		Version: version(),
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
