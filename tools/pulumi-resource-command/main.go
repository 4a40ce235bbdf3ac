// Command pulumi-resource-command is a stand-in for the Pulumi plugin of the same name, for machines that cannot
// download it. It offers the part of version 1.2.1 that runs programs on this machine, the resource
// command:local:Command and the function command:local:run, with the same properties and the same meaning, so that a
// stack made with one can go on with the other. Linux only.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	p "github.com/pulumi/pulumi-go-provider"
	"github.com/pulumi/pulumi-go-provider/infer"
	"github.com/pulumi/pulumi-go-provider/middleware/schema"

	"github.com/gpucluster/pulumi-gpucluster/tools/pulumi-resource-command/local"
)

// version is what the plugin reports; the Go SDK selects a plugin by it. The build sets it.
var version = "1.2.1"

// lastWords is what running commands get to end by themselves when Pulumi ends the plugin. Pulumi kills it after 5 s.
const lastWords = 4 * time.Second

func main() {
	if err := serve(); err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-resource-command: %v\n", err)
		os.Exit(1)
	}
}

func serve() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	provider := newProvider()
	context.AfterFunc(ctx, func() {
		// The server waits for the calls in progress, so it ends when the commands do.
		_ = provider.Cancel(context.Background())
		time.Sleep(lastWords)
		local.KillAll()
	})
	defer local.KillAll()
	return p.RunProvider(ctx, "command", version, provider)
}

// newProvider returns the provider that the plugin serves.
func newProvider() p.Provider {
	return infer.Provider(infer.Options{
		Metadata: schema.Metadata{
			DisplayName: "Command",
			Description: "Runs programs on this machine as part of a stack: the local half of Pulumi's command provider.",
			License:     "Apache-2.0",
		},
		Resources: []infer.InferredResource{infer.Resource(&local.Command{})},
		Functions: []infer.InferredFunction{infer.Function(&local.Run{})},
	})
}
