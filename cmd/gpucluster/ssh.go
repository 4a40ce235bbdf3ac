package main

import (
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
)

// newSSHCommand logs in to a host, or runs a command there, with the key and
// the host keys that the stack knows.
func newSSHCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ssh <environment> <host> [-- command...]",
		Short: "Log in to a host of an environment, or run a command there",
		Args:  cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			outputs, err := stackoutput.Read(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			session, err := outputs.Connect(cmd.Context())
			if err != nil {
				return err
			}
			defer session.Close()
			words := []string{"-F", session.ConfigFile(), args[1]}
			if len(args) > 2 {
				var quoted []string
				for _, word := range args[2:] {
					quoted = append(quoted, remote.ShellQuote(word))
				}
				words = append(words, "--", strings.Join(quoted, " "))
			}
			ssh := exec.CommandContext(cmd.Context(), "ssh", words...)
			ssh.Stdin, ssh.Stdout, ssh.Stderr = os.Stdin, os.Stdout, os.Stderr
			return ssh.Run()
		},
	}
}
