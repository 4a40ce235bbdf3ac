package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/internal/hostlist"
	"github.com/gpucluster/pulumi-gpucluster/internal/shell"
	"github.com/gpucluster/pulumi-gpucluster/internal/stackoutput"
	"github.com/gpucluster/pulumi-gpucluster/internal/suggest"
)

// newSSHCommand logs in to a host, or runs a command there, with the key and
// the host keys that the stack knows.
func newSSHCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ssh <environment> <host> [-- command...]",
		Short: "Log in to a host of an environment, or run a command there",
		Long: "Log in to a host, or run a command there, with the key and the host keys that the stack exports.\n" +
			"The environment is a stack of the Pulumi project in the current folder. Ends with the status of ssh.",
		Args: cobra.MinimumNArgs(2),
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
			if _, known := session.Target(args[1]); !known {
				return unknownHost(args[1], args[0], session.Hosts())
			}
			words := []string{"-F", session.ConfigFile(), args[1]}
			if len(args) > 2 {
				words = append(words, "--", shell.Words(args[2:]...))
			}
			ssh := exec.CommandContext(cmd.Context(), "ssh", words...)
			ssh.Stdin, ssh.Stdout, ssh.Stderr = os.Stdin, os.Stdout, os.Stderr
			return statusOf(ssh.Run())
		},
	}
}

func unknownHost(host, environment string, known []string) error {
	hint := "there are: " + hostlist.Compress(known)
	if meant := suggest.Closest(host, known); meant != "" {
		hint = fmt.Sprintf("did you mean %q?", meant)
	}
	return fmt.Errorf("%s has no host %q\n  hint: %s", environment, host, hint)
}

// exitStatus is the status with which a program ended that has said itself
// what went wrong.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// statusOf is the status of a program that ran and ended by itself, or else
// what kept it from that.
func statusOf(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return exitStatus(exit.ExitCode())
	}
	return err
}
