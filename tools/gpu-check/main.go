// Gpu-check lists the simulated GPUs that a container of the lab can see, as nvidia-smi -L does with real ones. In its image
// it goes by that name, so that a pod which validates a host is the same in the lab and on real servers.
//
//	nvidia-smi -L            the GPUs, and an error where they are not all there
//	gpu-check -serve :8080   the same over HTTP, for services of the lab: /, /readyz, /healthz; /?work=500ms keeps a
//	                         processor busy for that long first, as a model would
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "nvidia-smi (simulated):", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	visible := os.Getenv("NVIDIA_VISIBLE_DEVICES")
	switch {
	case len(args) == 1 && args[0] == "-L":
		return list(out, visible, "/dev")
	case len(args) == 2 && args[0] == "-serve":
		return serve(ctx, args[1], handler(visible, "/dev"))
	}
	return fmt.Errorf("-L and -serve ADDRESS are all that this one can do")
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
