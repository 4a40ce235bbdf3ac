package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	resourceName  = "nvidia.com/gpu"
	pluginSocket  = "gpucluster-lab-gpu.sock"
	kubeletSocket = "kubelet.sock"
	registerWait  = 10 * time.Second
)

// registrar keeps the plugin known to the kubelet.
type registrar struct {
	sockets string
	plugin  *plugin
	// interval is how often it looks whether the kubelet is another one.
	interval time.Duration
}

// run serves the plugin until the context ends. A kubelet that starts forgets its plugins and removes their sockets: then
// both are made anew.
func (r registrar) run(ctx context.Context) error {
	said := ""
	for {
		if err := r.session(ctx); err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			log.Print(said)
		} else if err == nil {
			said = ""
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(r.interval):
		}
	}
}

// session serves one kubelet, and ends when it is another one.
func (r registrar) session(ctx context.Context) error {
	kubelet, own := filepath.Join(r.sockets, kubeletSocket), filepath.Join(r.sockets, pluginSocket)
	known, err := os.Stat(kubelet)
	if err != nil {
		return fmt.Errorf("waiting for the kubelet: %w", err)
	}
	if err := os.Remove(own); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing an old socket: %w", err)
	}
	listener, err := net.Listen("unix", own)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	mine, err := os.Stat(own)
	if err != nil {
		listener.Close()
		return fmt.Errorf("listening: %w", err)
	}
	// The socket that lies there at the end may be that of a later session's.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, r.plugin)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer server.Stop()
	if err := register(ctx, kubelet); err != nil {
		return fmt.Errorf("registering with the kubelet: %w", err)
	}
	log.Printf("registered %s", resourceName)
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-ended:
			return fmt.Errorf("serving: %w", err)
		case <-time.After(r.interval):
		}
		if !same(kubelet, known) || !same(own, mine) {
			log.Print("the kubelet was started anew")
			return nil
		}
	}
}

// same tells whether a path still is the file that it was.
func same(path string, was fs.FileInfo) bool {
	now, err := os.Stat(path)
	return err == nil && os.SameFile(now, was) && now.ModTime().Equal(was.ModTime())
}

func register(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, registerWait)
	defer cancel()
	connection, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = api.NewRegistrationClient(connection).Register(ctx, &api.RegisterRequest{
		Version: api.Version, Endpoint: pluginSocket, ResourceName: resourceName, Options: &api.DevicePluginOptions{},
	})
	return err
}
