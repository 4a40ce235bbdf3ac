package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// plugin answers the kubelet.
type plugin struct {
	api.UnimplementedDevicePluginServer
	host host
	// interval is how often the host is looked at.
	interval time.Duration
}

func (*plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

// ListAndWatch sends the list of GPUs, and again whenever it or the health of one changes.
func (p *plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	ticker := time.NewTicker(p.interval)
	defer ticker.Stop()
	var sent *api.ListAndWatchResponse
	for {
		devices, err := p.host.devices()
		if err != nil {
			// The lab replaces the file; what was true last stays until it can be read again.
			log.Printf("listing GPUs: %v", err)
		}
		if now := (&api.ListAndWatchResponse{Devices: devices}); err == nil && (sent == nil || !proto.Equal(sent, now)) {
			log.Printf("%d GPUs, %d of them healthy", len(devices), healthy(devices))
			if err := stream.Send(now); err != nil {
				return err
			}
			sent = now
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-ticker.C:
		}
	}
}

func healthy(devices []*api.Device) int {
	n := 0
	for _, d := range devices {
		if d.Health == api.Healthy {
			n++
		}
	}
	return n
}

// Allocate gives a container the device files of its GPUs and their names.
func (p *plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	list, err := p.host.gpus()
	if err != nil {
		return nil, status.Errorf(codes.Unavailable, "listing GPUs: %v", err)
	}
	files := map[string]string{}
	for _, g := range list {
		files[g.UUID] = g.Device
	}
	response := &api.AllocateResponse{}
	for _, container := range request.ContainerRequests {
		one, err := p.allocate(files, container.DevicesIds)
		if err != nil {
			return nil, status.Error(codes.NotFound, err.Error())
		}
		response.ContainerResponses = append(response.ContainerResponses, one)
	}
	return response, nil
}

func (p *plugin) allocate(files map[string]string, ids []string) (*api.ContainerAllocateResponse, error) {
	response := &api.ContainerAllocateResponse{Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(ids, ",")}}
	add := func(path string) {
		response.Devices = append(response.Devices, &api.DeviceSpec{HostPath: path, ContainerPath: path, Permissions: "rw"})
	}
	for _, id := range ids {
		if files[id] == "" {
			return nil, fmt.Errorf("this host has no GPU %s", id)
		}
		add(files[id])
	}
	for _, path := range sharedDevices {
		if p.host.hasDevice(path) {
			add(path)
		}
	}
	return response, nil
}
