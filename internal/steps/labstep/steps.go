// Package labstep holds the steps that make the hosts of a lab.
package labstep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

// Names of the steps.
const (
	Image   = "lab-image"
	Network = "lab-network"
	Key     = "lab-key"
	Host    = "lab-host"
	// Artifacts serves images, binaries and charts to the lab's hosts.
	Artifacts = "lab-artifacts"
)

// Entries of the environment that are known only when other steps are done.
const (
	// EnvAuthorizedKey holds the public key that may log in to a host.
	EnvAuthorizedKey = "GPUCLUSTER_AUTHORIZED_KEY"
	// EnvNetwork holds the result of the network's step, so that a host waits
	// for its network and is made anew with it.
	EnvNetwork = "GPUCLUSTER_NETWORK"
)

// KeySpec asks for the key pair of a lab.
type KeySpec struct {
	// Lab by name.
	Lab string `json:"lab"`
}

// Steps returns the steps of the lab.
func Steps() step.Registry {
	return step.Registry{
		{Name: Image, Title: "Build the image of the lab's hosts", Apply: applyImage, Probe: probeImage},
		{Name: Network, Title: "Make the lab's network", Apply: applyNetwork, Remove: removeNetwork, Probe: probeNetwork},
		{Name: Artifacts, Title: "Serve images and binaries to the lab's hosts", Apply: applyArtifacts, Probe: probeArtifacts},
		{Name: Key, Title: "Make the key that logs in to the lab's hosts", Apply: applyKey},
		{Name: Host, Title: "Make a host of the lab", Apply: applyHost, Remove: removeHost, Probe: probeHost},
	}
}

func applyImage(ctx context.Context, in *step.Input) (any, error) {
	var spec lab.ImageSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	engine, err := lab.EnsureEngine(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	return engine.EnsureImage(ctx, spec)
}

// probeImage asks for repair where no engine runs any more: hosts cannot be
// judged without one, and applying the image starts it.
func probeImage(ctx context.Context, in *step.Input) error {
	engine, err := lab.FindEngine(ctx, in.Log)
	if err != nil {
		return err
	}
	var spec lab.ImageSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	return engine.ProbeImage(ctx, spec)
}

func applyNetwork(ctx context.Context, in *step.Input) (any, error) {
	var spec lab.NetworkSpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	engine, err := lab.EnsureEngine(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	return engine.EnsureNetwork(ctx, spec)
}

func removeNetwork(ctx context.Context, in *step.Input) error {
	var spec lab.NetworkSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	engine, err := lab.EnsureEngine(ctx, in.Log)
	if err != nil {
		return err
	}
	return engine.RemoveNetwork(ctx, spec.Lab)
}

func probeNetwork(ctx context.Context, in *step.Input) error {
	var spec lab.NetworkSpec
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	engine, err := lab.FindEngine(ctx, in.Log)
	if err != nil {
		return err
	}
	return engine.ProbeNetwork(ctx, spec.Lab)
}

func applyKey(_ context.Context, in *step.Input) (any, error) {
	var spec KeySpec
	if err := in.Spec(&spec); err != nil {
		return nil, err
	}
	return lab.GenerateKey()
}

// hostName is the part of a host's spec that every release writes alike.
type hostName struct {
	Lab  string `json:"lab"`
	Name string `json:"name"`
}

func hostSpec(in *step.Input) (lab.HostSpec, error) {
	var spec lab.HostSpec
	err := in.Spec(&spec)
	spec.AuthorizedKey = in.Getenv(EnvAuthorizedKey)
	return spec, err
}

func applyHost(ctx context.Context, in *step.Input) (any, error) {
	spec, err := hostSpec(in)
	if err != nil {
		return nil, err
	}
	engine, err := lab.EnsureEngine(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	return engine.EnsureHost(ctx, spec)
}

func removeHost(ctx context.Context, in *step.Input) error {
	var spec hostName
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	engine, err := lab.EnsureEngine(ctx, in.Log)
	if err != nil {
		return err
	}
	return engine.RemoveHost(ctx, spec.Lab, spec.Name)
}

func probeHost(ctx context.Context, in *step.Input) error {
	var spec hostName
	if err := in.SpecLoosely(&spec); err != nil {
		return err
	}
	var info lab.HostInfo
	known, err := in.Previous(&info)
	if err != nil || !known {
		return errors.Join(err, fmt.Errorf("the lab host %s has no recorded state", spec.Name))
	}
	engine, err := lab.FindEngine(ctx, in.Log)
	if err != nil {
		return err
	}
	return engine.ProbeHost(ctx, spec.Lab, info)
}

// ReadHost reads the result of a host's step.
func ReadHost(result string) (lab.HostInfo, error) {
	var info lab.HostInfo
	if err := json.Unmarshal([]byte(result), &info); err != nil {
		return info, fmt.Errorf("reading the result of a lab host: %w", err)
	}
	return info, nil
}

// ReadKey reads the result of the key's step.
func ReadKey(result string) (lab.KeyPair, error) {
	var pair lab.KeyPair
	if err := json.Unmarshal([]byte(result), &pair); err != nil {
		return pair, fmt.Errorf("reading the result of a lab key: %w", err)
	}
	return pair, nil
}
