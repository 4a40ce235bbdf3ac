package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
)

// NetworkSpec asks for a lab's own network.
type NetworkSpec struct {
	// Lab is the lab's name: a DNS label of at most 40 characters.
	Lab string `json:"lab"`
	// Subnet fixes the IPv4 subnet, such as "10.20.30.0/24". Default: a free /24 out of
	// 10.213.0.0/16, else of 198.18.0.0/16, that overlaps no route and no other network of this machine.
	Subnet string `json:"subnet,omitempty"`
}

// NetworkInfo is a lab's network as it is.
type NetworkInfo struct {
	// Name is the Docker network.
	Name string `json:"name"`
	// Subnet is its IPv4 subnet.
	Subnet string `json:"subnet"`
	// Gateway is this machine's address in it.
	Gateway string `json:"gateway"`
}

// EnsureNetwork makes the lab's network, or returns the one that exists. A network of that
// name that is no lab's, or that has another subnet than the one asked for, is an error.
func (e *Engine) EnsureNetwork(ctx context.Context, spec NetworkSpec) (NetworkInfo, error) {
	if !namePattern.MatchString(spec.Lab) {
		return NetworkInfo{}, fmt.Errorf("making the lab's network: %q is not a lab name (a DNS label of at most 40 characters)", spec.Lab)
	}
	var wanted netip.Prefix
	if spec.Subnet != "" {
		p, ok := parsePrefix(spec.Subnet)
		if !ok || p.Bits() > 28 {
			return NetworkInfo{}, fmt.Errorf("making the lab's network: %q is not an IPv4 subnet of at most 28 bits", spec.Subnet)
		}
		wanted = p
	}
	unlock, err := e.state.lock(ctx, "network")
	if err != nil {
		return NetworkInfo{}, err
	}
	defer unlock()
	n, err := e.inspectNetwork(ctx, NetworkName(spec.Lab))
	switch {
	case err == nil && n.Labels[labelLab] != spec.Lab:
		return NetworkInfo{}, fmt.Errorf("making the lab's network: a network %s exists and was not made by a lab", n.Name)
	case err == nil && wanted.IsValid() && n.subnet() != wanted:
		return NetworkInfo{}, fmt.Errorf("making the lab's network: %s has the subnet %s, not %s; a lab's subnet cannot change while it stands", n.Name, n.subnet(), wanted)
	case err == nil:
		return n.info(), nil
	case !missing(err):
		return NetworkInfo{}, fmt.Errorf("making the lab's network: %w", err)
	}
	return e.createNetwork(ctx, spec.Lab, wanted)
}

func (e *Engine) createNetwork(ctx context.Context, lab string, subnet netip.Prefix) (NetworkInfo, error) {
	if !subnet.IsValid() {
		free, err := e.freeSubnet(ctx, lab)
		if err != nil {
			return NetworkInfo{}, fmt.Errorf("making the lab's network: %w", err)
		}
		subnet = free
	} else if taken, err := e.takenSubnets(ctx); err != nil {
		return NetworkInfo{}, fmt.Errorf("making the lab's network: %w", err)
	} else if overlapsAny(subnet, taken) {
		return NetworkInfo{}, fmt.Errorf("making the lab's network: %s overlaps a network that this machine already has", subnet)
	}
	gateway := addToAddr(subnet.Addr(), 1)
	_, err := e.docker.run(ctx, "network", "create", "--driver", "bridge",
		"--subnet", subnet.String(), "--gateway", gateway.String(),
		"--label", labelLab+"="+lab, NetworkName(lab))
	if err != nil {
		return NetworkInfo{}, fmt.Errorf("making the lab's network: %w", err)
	}
	fmt.Fprintf(e.progress, "lab: network %s with %s\n", NetworkName(lab), subnet)
	return NetworkInfo{Name: NetworkName(lab), Subnet: subnet.String(), Gateway: gateway.String()}, nil
}

// freeSubnet chooses a subnet that nothing on this machine uses.
func (e *Engine) freeSubnet(ctx context.Context, lab string) (netip.Prefix, error) {
	taken, err := e.takenSubnets(ctx)
	if err != nil {
		return netip.Prefix{}, err
	}
	return chooseFromPools(lab, defaultPools, taken)
}

// takenSubnets lists what a new subnet must stay away from: routes of this machine and the
// subnets of every Docker network, also those without a bridge at the moment.
func (e *Engine) takenSubnets(ctx context.Context) ([]netip.Prefix, error) {
	var taken []netip.Prefix
	out, err := exec.CommandContext(ctx, "ip", "-4", "route", "show", "table", "all").Output()
	if err != nil {
		return nil, fmt.Errorf("listing this machine's routes: %w", err)
	}
	taken = append(taken, parseRoutes(string(out))...)
	ids, err := e.docker.run(ctx, "network", "ls", "-q")
	if err != nil {
		return nil, err
	}
	for id := range strings.FieldsSeq(ids) {
		n, err := e.inspectNetwork(ctx, id)
		if missing(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, c := range n.IPAM.Config {
			if p, ok := parsePrefix(c.Subnet); ok {
				taken = append(taken, p)
			}
		}
	}
	return taken, nil
}

// dockerNetwork is the part of `docker network inspect` that is read.
type dockerNetwork struct {
	ID     string `json:"Id"`
	Name   string
	Labels map[string]string
	IPAM   struct {
		Config []struct{ Subnet, Gateway string }
	}
}

func (n dockerNetwork) subnet() netip.Prefix {
	if len(n.IPAM.Config) == 0 {
		return netip.Prefix{}
	}
	p, _ := parsePrefix(n.IPAM.Config[0].Subnet)
	return p
}

func (n dockerNetwork) info() NetworkInfo {
	info := NetworkInfo{Name: n.Name}
	if len(n.IPAM.Config) > 0 {
		info.Subnet, info.Gateway = n.IPAM.Config[0].Subnet, n.IPAM.Config[0].Gateway
	}
	return info
}

func (e *Engine) inspectNetwork(ctx context.Context, name string) (dockerNetwork, error) {
	out, err := e.docker.run(ctx, "network", "inspect", name)
	if err != nil {
		return dockerNetwork{}, err
	}
	var found []dockerNetwork
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		return dockerNetwork{}, fmt.Errorf("reading the network %s: %w", name, err)
	}
	if len(found) != 1 {
		return dockerNetwork{}, fmt.Errorf("reading the network %s: no such network", name)
	}
	return found[0], nil
}

// ProbeNetwork tells whether the lab's network is there. It changes nothing.
func (e *Engine) ProbeNetwork(ctx context.Context, lab string) error {
	n, err := e.inspectNetwork(ctx, NetworkName(lab))
	switch {
	case missing(err):
		return fmt.Errorf("the lab %s has no network", lab)
	case err != nil:
		return fmt.Errorf("probing the lab's network: %w", err)
	case n.Labels[labelLab] != lab:
		return fmt.Errorf("probing the lab's network: %s was not made by this lab", n.Name)
	}
	return nil
}

// RemoveNetwork removes the lab's network and whatever of the lab is still there, such as
// a host that an interrupted run made and forgot. Nothing there is success.
func (e *Engine) RemoveNetwork(ctx context.Context, lab string) error {
	if !namePattern.MatchString(lab) {
		return fmt.Errorf("removing the lab's network: %q is not a lab name", lab)
	}
	out, err := e.docker.run(ctx, "ps", "-aq", "--filter", "label="+labelLab+"="+lab)
	if err != nil {
		return fmt.Errorf("removing the lab's network: %w", err)
	}
	for id := range strings.FieldsSeq(out) {
		if err := e.removeContainer(ctx, id); err != nil {
			return fmt.Errorf("removing the lab's network: %w", err)
		}
	}
	if err := e.removeVolumes(ctx, "label="+labelLab+"="+lab); err != nil {
		return err
	}
	unlock, err := e.state.lock(ctx, "network")
	if err != nil {
		return err
	}
	defer unlock()
	n, err := e.inspectNetwork(ctx, NetworkName(lab))
	if err == nil && n.Labels[labelLab] == lab {
		_, err = e.docker.run(ctx, "network", "rm", n.Name)
	}
	if err != nil && !missing(err) {
		return fmt.Errorf("removing the lab's network: %w", err)
	}
	return e.registry(lab).remove(ctx)
}
