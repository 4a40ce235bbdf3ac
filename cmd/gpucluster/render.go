package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
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
			files, err := rendered(env)
			if err != nil {
				return fmt.Errorf("rendering %s: %w", env.Name, err)
			}
			if dir == "" {
				return printFiles(cmd.OutOrStdout(), files)
			}
			return writeFiles(cmd.OutOrStdout(), dir, files)
		},
	}
	cmd.Flags().StringVarP(&dir, "out", "o", "", "folder to write the files to, made if it does not exist")
	return cmd
}

// printFiles writes all files to one stream, each after a line that names it.
func printFiles(out io.Writer, files []renderedFile) error {
	for _, file := range files {
		if _, err := fmt.Fprintf(out, "==> %s\n%s\n", file.title, file.content); err != nil {
			return fmt.Errorf("printing %s: %w", file.name, err)
		}
	}
	return nil
}

// writeFiles writes the files into a folder, or none of them where one would
// overwrite a file that is not ours.
func writeFiles(out io.Writer, dir string, files []renderedFile) error {
	var foreign []string
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(dir, file.name))
		switch {
		case err == nil && !file.isOurs(string(content)):
			foreign = append(foreign, file.name)
		case err != nil && !os.IsNotExist(err):
			return fmt.Errorf("looking at what is in %s: %w", dir, err)
		}
	}
	if len(foreign) > 0 {
		return fmt.Errorf("%s: not written by gpucluster: %s\n  hint: move them away, or write to another folder; nothing was changed",
			dir, strings.Join(foreign, ", "))
	}
	for _, file := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file.name)), 0o755); err != nil {
			return fmt.Errorf("making the folder: %w", err)
		}
		if err := writeFile(filepath.Join(dir, file.name), file); err != nil {
			return fmt.Errorf("writing %s: %w", file.name, err)
		}
		fmt.Fprintln(out, filepath.Join(dir, file.name))
	}
	return nil
}

// writeFile replaces a file in one step: whoever reads it sees the old or the
// new content, never half of it.
func writeFile(path string, file renderedFile) error {
	mode, err := strconv.ParseUint(file.mode, 8, 32)
	if err != nil {
		return fmt.Errorf("mode %q: %w", file.mode, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".gpucluster-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.WriteString(file.content)
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
