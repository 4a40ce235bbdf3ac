// Artifacts makes what the lab's Kubernetes clusters are made of into a store of this machine, and serves it, where no
// registry can be reached.
//
//	artifacts build --store DIR [--tools DIR] [--tests]    make what is missing, with what only tests run; nothing to do takes no time
//	artifacts serve --store DIR --address :5000            the images as a registry, /binaries/ and /charts/ as files; read-only
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

const usage = `usage:
  artifacts build --store DIR [--tools DIR] [--tests]
  artifacts serve --store DIR --address HOST:PORT
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(os.Stderr, usage)
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "artifacts:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return flag.ErrHelp
	}
	flags := flag.NewFlagSet("artifacts "+args[0], flag.ContinueOnError)
	store := flags.String("store", artifacts.DefaultStore(), "the folder that holds the artifacts")
	switch args[0] {
	case "build":
		tools := flags.String("tools", "tools", "the folder with the tool sets")
		tests := flags.Bool("tests", false, "make what only tests run too")
		if err := parse(flags, args[1:]); err != nil {
			return err
		}
		b := &builder{store: *store, tools: *tools, table: artifacts.Lab, progress: os.Stdout, compile: goBuild}
		if err := b.build(ctx); err != nil || !*tests {
			return err
		}
		b.table = artifacts.Tests
		return b.buildPrograms(ctx)
	case "serve":
		address := flags.String("address", ":5000", "where to listen")
		if err := parse(flags, args[1:]); err != nil {
			return err
		}
		return serve(ctx, *store, *address)
	}
	return flag.ErrHelp
}

func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is too much", flags.Arg(0))
	}
	return nil
}

func serve(ctx context.Context, store, address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	// No limit on writes: an image on a slow line takes what it takes.
	server := &http.Server{Handler: newHandler(store), ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Printf("artifacts: serving %s at %s\n", store, listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}
