// Package lab makes the hosts of an environment as containers that behave like
// servers: systemd as the first process, an SSH daemon, an address of their
// own, and simulated GPUs. Everything on top treats them like real servers.
//
// The usual path is [NewLab], whose Connections go into the other components.
package lab

import (
	"errors"

	"github.com/pulumi/pulumi/sdk/v3/go/pulumi"

	"github.com/gpucluster/pulumi-gpucluster/components/connection"
	"github.com/gpucluster/pulumi-gpucluster/components/heal"
	"github.com/gpucluster/pulumi-gpucluster/config"
	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/stepresource"
	"github.com/gpucluster/pulumi-gpucluster/internal/steps/labstep"
)

// Lab is a set of container hosts on a network of their own.
type Lab struct {
	pulumi.ResourceState

	// Connections to the hosts, by name. Whoever uses one waits for its host.
	Connections connection.Connections
	// Subnet of the lab's network in CIDR form.
	Subnet pulumi.StringOutput
	// Artifacts is the server of images and binaries that hosts of a Kubernetes
	// cluster fetch from; nil where none is needed.
	Artifacts pulumi.Resource
	// Charts is the URL of Helm's charts there, as this machine reaches it.
	Charts pulumi.StringOutput
}

// LabArgs says which hosts to make. All fields are plain: they decide which
// resources exist.
type LabArgs struct {
	// Environment whose hosts are made. It has a lab section, is judged by
	// [config.Check], and need say nothing of a scheduler.
	Environment *config.Environment
	// Heal says which hosts need repair. Default: none.
	Heal *heal.Assessment
}

// NewLab makes the image, the network, a key pair and every host. The Docker
// engine is this machine's; where none runs and the user is root, one is
// started.
func NewLab(ctx *pulumi.Context, name string, args *LabArgs, opts ...pulumi.ResourceOption) (*Lab, error) {
	if args == nil || args.Environment == nil || args.Environment.Lab == nil {
		return nil, errors.New("a lab needs an environment with a lab section")
	}
	env := args.Environment
	if err := config.Check(env, config.PartReach); err != nil {
		return nil, err
	}
	images := lab.ImageSpec{Release: env.Release()}
	if env.Slurm != nil {
		images.Slurm = env.Slurm.Version
	}
	var volumes []string
	if env.Kubernetes != nil {
		images.Kubernetes = true
		volumes = kubernetesVolumes
	}
	imageName, err := lab.ImageName(images)
	if err != nil {
		return nil, err
	}
	l := &Lab{Connections: connection.Connections{}}
	if err := ctx.RegisterComponentResource("gpucluster:lab:Lab", name, l, opts...); err != nil {
		return nil, err
	}
	parent := pulumi.Parent(l)
	image, err := stepresource.New(ctx, name+"-image", stepresource.Args{
		Step: labstep.Image, Spec: images, Heal: args.Heal.Count(name + "-image"),
	}, parent)
	if err != nil {
		return nil, err
	}
	network, err := stepresource.New(ctx, name+"-network", stepresource.Args{
		Step: labstep.Network, Spec: lab.NetworkSpec{Lab: env.Name, Subnet: env.Lab.Subnet},
		Heal: args.Heal.Count(name + "-network"),
	}, parent, pulumi.DependsOn([]pulumi.Resource{image}))
	if err != nil {
		return nil, err
	}
	key, err := stepresource.New(ctx, name+"-key", stepresource.Args{
		Step: labstep.Key, Spec: labstep.KeySpec{Lab: env.Name}, SecretResult: true,
	}, parent)
	if err != nil {
		return nil, err
	}
	privateKey, publicKey := splitKey(key.Stdout)
	if env.Kubernetes != nil {
		resource := name + "-artifacts"
		served, err := stepresource.New(ctx, resource, stepresource.Args{
			Step: labstep.Artifacts, Spec: lab.ArtifactsSpec{Lab: env.Name},
			Later: map[string]pulumi.StringInput{labstep.EnvNetwork: network.Stdout}, Heal: args.Heal.Count(resource),
		}, parent, pulumi.DependsOn([]pulumi.Resource{network}))
		if err != nil {
			return nil, err
		}
		l.Artifacts, l.Charts = served, charts(served.Stdout)
	}

	for _, host := range env.AllHosts() {
		resource := name + "-" + host.Name + "-host"
		made, err := stepresource.New(ctx, resource, stepresource.Args{
			Step: labstep.Host,
			Spec: lab.HostSpec{Lab: env.Name, Name: host.Name, Image: imageName, Hardware: hardware(host.Profile), Volumes: volumes},
			Later: map[string]pulumi.StringInput{
				labstep.EnvAuthorizedKey: publicKey, labstep.EnvNetwork: network.Stdout,
			},
			Heal: args.Heal.Count(resource),
		}, parent, pulumi.DependsOn([]pulumi.Resource{image, network}))
		if err != nil {
			return nil, err
		}
		l.Connections[host.Name] = connection.Connection{
			Name:       host.Name,
			Address:    partOf(made.Stdout, func(h lab.HostInfo) string { return h.Address }),
			HostKeys:   pulumi.StringArray{partOf(made.Stdout, func(h lab.HostInfo) string { return h.HostKey })},
			PrivateKey: privateKey,
			Instance:   partOf(made.Stdout, func(h lab.HostInfo) string { return h.Instance }),
		}
	}
	l.Subnet = subnet(network.Stdout)
	return l, ctx.RegisterResourceOutputs(l, pulumi.Map{"subnet": l.Subnet})
}

// kubernetesVolumes are what a runtime and etcd cannot keep on the layered file
// system of a container.
var kubernetesVolumes = []string{"/var/lib/containerd", "/var/lib/etcd", "/var/lib/kubelet"}

// hardware is what a lab host pretends to have.
func hardware(p config.Profile) lab.Hardware {
	h := lab.Hardware{
		Sockets: p.Sockets, CoresPerSocket: p.CoresPerSocket, ThreadsPerCore: p.ThreadsPerCore, MemoryMiB: int(p.Memory.MiB()),
	}
	for _, gpu := range p.GPUs {
		h.GPUs = append(h.GPUs, lab.GPUs{Count: gpu.Count, FirstDevice: *gpu.FirstDevice, Name: gpu.Type})
	}
	return h
}
