package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpucluster/pulumi-gpucluster/internal/slurmconf"
)

// newRenderCommand writes the files of an environment, the same bytes that end
// up on the hosts.
func newRenderCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "render <environment>",
		Short: "Write the configuration files that the hosts get",
		Long: "Render the configuration files of an environment, byte for byte as they are placed on the hosts.\n" +
			"Secrets are not part of them: a password is added on the host. Without --out everything is printed.",
		Example: "  gpucluster render lab-slurm\n  gpucluster render lab-slurm --out rendered",
		Args:    oneEnvironment,
		RunE: func(cmd *cobra.Command, args []string) error {
			env, report, err := loadEnvironment(args[0])
			if err != nil {
				return err
			}
			if len(report.Problems) > 0 {
				fmt.Fprint(cmd.ErrOrStderr(), report)
			}
			if env.Slurm == nil {
				return fmt.Errorf("rendering %s: this release writes the files of Slurm, and the scheduler is %s", env.Name, env.Scheduler)
			}
			set, err := slurmconf.Render(env.SlurmCluster())
			if err != nil {
				return fmt.Errorf("rendering %s: %w", env.Name, err)
			}
			if dir == "" {
				return printFiles(cmd.OutOrStdout(), set)
			}
			return writeFiles(cmd.OutOrStdout(), dir, set)
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", "", "folder to write the files to, made if it does not exist")
	return cmd
}

// printFiles writes all files to one stream, each after a line that names it.
func printFiles(out io.Writer, set slurmconf.FileSet) error {
	for _, file := range set.Files {
		var on []string
		for _, placement := range file.On {
			on = append(on, string(placement))
		}
		if _, err := fmt.Fprintf(out, "==> %s/%s (mode %s, owner %s, on %s)\n%s\n",
			set.ConfigDir, file.Name, file.Mode, file.Owner, strings.Join(on, ", "), file.Content); err != nil {
			return fmt.Errorf("printing %s: %w", file.Name, err)
		}
	}
	return nil
}

// writeFiles writes the files into a folder, or none of them where one would
// overwrite a file that is not ours.
func writeFiles(out io.Writer, dir string, set slurmconf.FileSet) error {
	var foreign []string
	for _, file := range set.Files {
		content, err := os.ReadFile(filepath.Join(dir, file.Name))
		switch {
		case err == nil && !slurmconf.IsOurs(string(content)):
			foreign = append(foreign, file.Name)
		case err != nil && !os.IsNotExist(err):
			return fmt.Errorf("looking at what is in %s: %w", dir, err)
		}
	}
	if len(foreign) > 0 {
		return fmt.Errorf("%s: not written by gpucluster: %s\n  hint: move them away, or write to another folder; nothing was changed",
			dir, strings.Join(foreign, ", "))
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder: %w", err)
	}
	for _, file := range set.Files {
		if err := writeFile(filepath.Join(dir, file.Name), file); err != nil {
			return fmt.Errorf("writing %s: %w", file.Name, err)
		}
		fmt.Fprintln(out, filepath.Join(dir, file.Name))
	}
	return nil
}

// writeFile replaces a file in one step: whoever reads it sees the old or the
// new content, never half of it.
func writeFile(path string, file slurmconf.File) error {
	mode, err := strconv.ParseUint(file.Mode, 8, 32)
	if err != nil {
		return fmt.Errorf("mode %q: %w", file.Mode, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".gpucluster-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(file.Content)
	if err == nil {
		err = temporary.Chmod(os.FileMode(mode))
	}
	if err == nil {
		err = temporary.Sync()
	}
	if closeErr := temporary.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
