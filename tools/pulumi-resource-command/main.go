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
	pulumiprovider "github.com/pulumi/pulumi/pkg/v3/resource/provider"
	rpc "github.com/pulumi/pulumi/sdk/v3/proto/go"

	"github.com/gpucluster/pulumi-gpucluster/tools/pulumi-resource-command/local"
)

// version is what the plugin reports; the Go SDK selects a plugin by it. The build sets it.
var version = "1.2.1"

const (
	// lastWords is what running commands get to end by themselves when Pulumi ends the plugin. Pulumi kills it after 5 s.
	lastWords = 4 * time.Second
	// orphanCheck is how often the plugin looks whether Pulumi still lives.
	orphanCheck = time.Second
)

func main() {
	if err := serve(); err != nil {
		fmt.Fprintf(os.Stderr, "pulumi-resource-command: %v\n", err)
		os.Exit(1)
	}
}

func serve() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	provider := newProvider()
	// end tells the commands to stop; the server waits for them and ends.
	end := func() {
		_ = provider.Cancel(context.Background())
		stop()
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-signals
		end()
		time.Sleep(lastWords)
		local.KillAll()
	}()
	go func() {
		// A Pulumi that was killed ends no plugin.
		for parent := os.Getppid(); os.Getppid() == parent; time.Sleep(orphanCheck) {
		}
		end()
	}()
	return pulumiprovider.MainContext(ctx, "command", func(host *pulumiprovider.HostClient) (rpc.ResourceProviderServer, error) {
		inner, err := p.RawServer("command", version, provider)(host)
		return server{inner}, err
	})
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

// server takes a key out again that the library adds to a provider's configuration: today's engine keeps it for itself
// and would warn about it in every run.
type server struct {
	rpc.ResourceProviderServer
}

func (s server) CheckConfig(ctx context.Context, request *rpc.CheckRequest) (*rpc.CheckResponse, error) {
	response, err := s.ResourceProviderServer.CheckConfig(ctx, request)
	delete(response.GetInputs().GetFields(), "__internal")
	return response, err
}
