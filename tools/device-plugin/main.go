// Device-plugin tells a kubelet of the lab about its host's simulated GPUs, as NVIDIA's device plugin does about real ones:
// the same resource, the same names of devices, the same variable in the container. It runs on hosts of the lab only.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

func main() {
	sockets := flag.String("sockets", api.DevicePluginPath, "the folder of the kubelet's socket and of this plugin's")
	root := flag.String("root", "/", "where the host's /etc/gpucluster-lab and /dev are seen")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "device-plugin: %q is too much\n", flag.Arg(0))
		os.Exit(2)
	}
	log.SetFlags(0)
	log.SetPrefix("device-plugin: ")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p := &plugin{host: host{root: *root}, interval: time.Second}
	if err := p.host.check(); err != nil {
		log.Fatal(err)
	}
	r := registrar{sockets: *sockets, plugin: p, interval: time.Second}
	if err := r.run(ctx); err != nil && ctx.Err() == nil {
		log.Fatal(err)
	}
}
