// Gpu-check lists the simulated GPUs that a container of the lab can see, as nvidia-smi -L does with real ones. In its image
// it goes by that name, so that a pod which validates a host is the same in the lab and on real servers.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "-L" {
		fmt.Fprintln(os.Stderr, "nvidia-smi (simulated): -L is all that this one can do")
		os.Exit(2)
	}
	if err := list(os.Stdout, os.Getenv("NVIDIA_VISIBLE_DEVICES"), "/dev"); err != nil {
		fmt.Fprintln(os.Stderr, "nvidia-smi (simulated):", err)
		os.Exit(1)
	}
}

// list names each GPU that the container was given. One without a device file is an error: a program could not open it.
func list(out io.Writer, visible, dev string) error {
	files, err := filepath.Glob(filepath.Join(dev, "nvidia[0-9]*"))
	if err != nil {
		return err
	}
	var names []string
	if visible != "" && visible != "void" && visible != "none" {
		names = strings.Split(visible, ",")
	}
	if len(files) != len(names) {
		return fmt.Errorf("%d GPUs were given and %d device files are there", len(names), len(files))
	}
	for i, name := range names {
		if _, err := fmt.Fprintf(out, "GPU %d: simulated (UUID: %s)\n", i, name); err != nil {
			return err
		}
	}
	return nil
}
