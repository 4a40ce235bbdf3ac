package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const patience = 10 * time.Second

// labHost is a folder that looks like a lab host with GPUs at the given devices.
func labHost(t *testing.T, devices ...string) host {
	t.Helper()
	h := host{root: t.TempDir()}
	for _, dir := range []string{"etc/gpucluster-lab", "dev"} {
		if err := os.MkdirAll(filepath.Join(h.root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	place(t, h, hardwareFile, `{"simulated": true, "sockets": 2}`)
	describe(t, h, devices...)
	for _, d := range append(devices, "/dev/nvidiactl") {
		plug(t, h, d)
	}
	return h
}

func place(t *testing.T, h host, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(h.root, path), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// describe writes the host's list of GPUs.
func describe(t *testing.T, h host, devices ...string) {
	t.Helper()
	var list []string
	for _, d := range devices {
		list = append(list, fmt.Sprintf(`{"index": 0, "uuid": "GPU-%s", "device": %q}`, filepath.Base(d), d))
	}
	place(t, h, gpusFile, `{"simulated": true, "gpus": [`+strings.Join(list, ",")+`]}`)
}

// plug makes a character device appear: any will do, and /dev/null needs no root.
func plug(t *testing.T, h host, device string) {
	t.Helper()
	if err := os.Symlink("/dev/null", filepath.Join(h.root, device)); err != nil {
		t.Fatal(err)
	}
}

// kubelet is as much of one as a plugin meets.
type kubelet struct {
	api.UnimplementedRegistrationServer
	sockets    string
	registered chan *api.RegisterRequest
	server     *grpc.Server
}

// startKubelet does what a kubelet does when it starts: it removes all sockets and makes its own.
func startKubelet(t *testing.T, sockets string) *kubelet {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(sockets, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", filepath.Join(sockets, kubeletSocket))
	if err != nil {
		t.Fatal(err)
	}
	k := &kubelet{sockets: sockets, registered: make(chan *api.RegisterRequest, 8), server: grpc.NewServer()}
	api.RegisterRegistrationServer(k.server, k)
	go func() { _ = k.server.Serve(listener) }()
	t.Cleanup(k.server.Stop)
	return k
}

func (k *kubelet) Register(_ context.Context, r *api.RegisterRequest) (*api.Empty, error) {
	k.registered <- r
	return &api.Empty{}, nil
}

// wait returns a client of the plugin that registers next.
func (k *kubelet) wait(t *testing.T) api.DevicePluginClient {
	t.Helper()
	select {
	case r := <-k.registered:
		if r.Version != "v1beta1" || r.ResourceName != "nvidia.com/gpu" {
			t.Errorf("it registers as %v", r)
		}
		connection, err := grpc.NewClient("unix://"+filepath.Join(k.sockets, r.Endpoint), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { connection.Close() })
		return api.NewDevicePluginClient(connection)
	case <-time.After(patience):
		t.Fatal("no plugin registers")
		return nil
	}
}

func start(t *testing.T, h host, sockets string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	r := registrar{sockets: sockets, plugin: &plugin{host: h, interval: 10 * time.Millisecond}, interval: 10 * time.Millisecond}
	go func() { defer close(ended); _ = r.run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
}

// watch returns a function that gives the next list of GPUs with their health.
func watch(t *testing.T, client api.DevicePluginClient) func() string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	stream, err := client.ListAndWatch(ctx, &api.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		t.Helper()
		list, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		for _, d := range list.Devices {
			words = append(words, d.ID+" "+d.Health)
		}
		return strings.Join(words, ", ")
	}
}

// TestOneKubeletAfterAnother checks what a kubelet is told, before and after it
// is restarted.
func TestOneKubeletAfterAnother(t *testing.T) {
	h, sockets := labHost(t, "/dev/nvidia0", "/dev/nvidia1"), t.TempDir()
	start(t, h, sockets) // before there is any kubelet
	k := startKubelet(t, sockets)
	next := watch(t, k.wait(t))
	for _, step := range []struct {
		title string
		do    func()
		want  string
	}{
		{"at first", func() {}, "GPU-nvidia0 Healthy, GPU-nvidia1 Healthy"},
		{"a device goes", func() { os.Remove(filepath.Join(h.root, "dev/nvidia1")) }, "GPU-nvidia0 Healthy, GPU-nvidia1 Unhealthy"},
		{"and comes back", func() { plug(t, h, "/dev/nvidia1") }, "GPU-nvidia0 Healthy, GPU-nvidia1 Healthy"},
		{"the lab takes one away", func() { describe(t, h, "/dev/nvidia0") }, "GPU-nvidia0 Healthy"},
	} {
		step.do()
		if got := next(); got != step.want {
			t.Errorf("%s: the kubelet is told %q, want %q", step.title, got, step.want)
		}
	}

	k.server.Stop()
	again := startKubelet(t, sockets)
	if got := watch(t, again.wait(t))(); got != "GPU-nvidia0 Healthy" {
		t.Errorf("a kubelet that was restarted is told %q", got)
	}
}

func TestAllocate(t *testing.T) {
	h := labHost(t, "/dev/nvidia0", "/dev/nvidia7")
	p := &plugin{host: h}
	cases := map[string]struct {
		containers [][]string
		want       []string
		code       codes.Code
	}{
		"one":            {[][]string{{"GPU-nvidia7"}}, []string{"GPU-nvidia7: /dev/nvidia7 /dev/nvidiactl"}, codes.OK},
		"two":            {[][]string{{"GPU-nvidia7", "GPU-nvidia0"}}, []string{"GPU-nvidia7,GPU-nvidia0: /dev/nvidia7 /dev/nvidia0 /dev/nvidiactl"}, codes.OK},
		"two containers": {[][]string{{"GPU-nvidia0"}, {"GPU-nvidia7"}}, []string{"GPU-nvidia0: /dev/nvidia0 /dev/nvidiactl", "GPU-nvidia7: /dev/nvidia7 /dev/nvidiactl"}, codes.OK},
		"an unknown one": {[][]string{{"GPU-nvidia3"}}, nil, codes.NotFound},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			request := &api.AllocateRequest{}
			for _, ids := range c.containers {
				request.ContainerRequests = append(request.ContainerRequests, &api.ContainerAllocateRequest{DevicesIds: ids})
			}
			response, err := p.Allocate(t.Context(), request)
			if status.Code(err) != c.code {
				t.Fatalf("it says %v", err)
			}
			var got []string
			for _, r := range response.GetContainerResponses() {
				line := r.Envs["NVIDIA_VISIBLE_DEVICES"] + ":"
				for _, d := range r.Devices {
					if d.HostPath != d.ContainerPath || d.Permissions != "rw" {
						t.Errorf("a device is handed out as %v", d)
					}
					line += " " + d.HostPath
				}
				got = append(got, line)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("containers get %q, want %q", got, c.want)
			}
		})
	}
}

func TestRealServersAreRefused(t *testing.T) {
	h := labHost(t)
	if err := h.check(); err != nil {
		t.Errorf("a lab host: %v", err)
	}
	for name, change := range map[string]func(){
		"says nothing":     func() { place(t, h, hardwareFile, `{}`) },
		"says nonsense":    func() { place(t, h, hardwareFile, `simulated`) },
		"has no such file": func() { os.Remove(filepath.Join(h.root, hardwareFile)) },
	} {
		change()
		if err := h.check(); err == nil || !strings.Contains(err.Error(), "no host of the lab") {
			t.Errorf("a server that %s: %v", name, err)
		}
	}
}
