package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps"
)

// newStepCommand runs one step of an environment. Pulumi's resources call it;
// people normally do not.
func newStepCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "step <name> apply|remove|probe",
		Short: "Run one step of an environment (called by Pulumi)",
		Long: "Run one step. The spec is read as JSON from standard input, connections and secrets from\n" +
			"the environment; the result is written to standard output and progress to standard error.",
		Args:   cobra.ExactArgs(2),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			spec, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return err
			}
			in := step.NewInput(spec, os.Getenv, cmd.ErrOrStderr())
			return steps.All().Run(cmd.Context(), args[0], step.Operation(args[1]), in, cmd.OutOrStdout())
		},
	}
}
