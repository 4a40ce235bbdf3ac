package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
)

// EnsureHost makes a host, or brings the one that exists to what the spec says: without
// stopping it where only keys or simulated hardware change, and by making it anew, with
// the same name, address and host key, where image or volumes do. It returns when sshd
// answers with the host's key.
func (e *Engine) EnsureHost(ctx context.Context, spec HostSpec) (HostInfo, error) {
	if err := spec.validate(); err != nil {
		return HostInfo{}, err
	}
	info, err := e.ensureHost(ctx, spec.withDefaults())
	if err != nil {
		return HostInfo{}, fmt.Errorf("lab host %s: %w", spec.Name, err)
	}
	return info, nil
}

func (e *Engine) ensureHost(ctx context.Context, spec HostSpec) (HostInfo, error) {
	// One at a time for each host: two runs at once must not both make it.
	unlock, err := e.state.lock(ctx, "host-"+ContainerName(spec.Lab, spec.Name))
	if err != nil {
		return HostInfo{}, err
	}
	defer unlock()
	if err := raiseInotify(inotifyFile, e.progress); err != nil {
		return HostInfo{}, err
	}
	address, err := e.assignAddress(ctx, spec)
	if err != nil {
		return HostInfo{}, err
	}
	c, err := e.container(ctx, spec, address)
	if err != nil {
		return HostInfo{}, err
	}
	public, err := e.placeFiles(ctx, spec, c)
	if err != nil {
		return HostInfo{}, err
	}
	if err := e.bringUp(ctx, spec, c, address); err != nil {
		return HostInfo{}, err
	}
	if err := e.settle(ctx, spec, c, address, public); err != nil {
		return HostInfo{}, err
	}
	return HostInfo{Name: spec.Name, Address: address.String(), Port: 22, User: "root", HostKey: public,
		Container: ContainerName(spec.Lab, spec.Name), Instance: c.ID[:12]}, nil
}

// assignAddress gives the host its address in the lab's hosts file.
func (e *Engine) assignAddress(ctx context.Context, spec HostSpec) (netip.Addr, error) {
	n, err := e.inspectNetwork(ctx, NetworkName(spec.Lab))
	if missing(err) {
		return netip.Addr{}, fmt.Errorf("the lab %s has no network", spec.Lab)
	}
	if err != nil {
		return netip.Addr{}, err
	}
	living, err := e.livingAddresses(ctx, spec.Lab)
	if err != nil {
		return netip.Addr{}, err
	}
	return e.registry(spec.Lab).assign(ctx, spec.Name, n.subnet(), living)
}

// livingAddresses reads the addresses from the labels of the lab's containers.
func (e *Engine) livingAddresses(ctx context.Context, lab string) (map[string]netip.Addr, error) {
	format := fmt.Sprintf("{{.Label %q}} {{.Label %q}}", labelHost, labelAddress)
	out, err := e.docker.run(ctx, "ps", "-a", "--filter", "label="+labelLab+"="+lab, "--format", format)
	if err != nil {
		return nil, err
	}
	found := map[string]netip.Addr{}
	for line := range strings.Lines(out) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if a, err := netip.ParseAddr(text); err == nil {
			found[name] = a
		}
	}
	return found, nil
}

// dockerContainer is the part of `docker inspect` that is read.
type dockerContainer struct {
	ID     string `json:"Id"`
	Config struct {
		Labels map[string]string
	}
	State struct {
		Running bool
	}
	NetworkSettings struct {
		Networks map[string]struct{ NetworkID, IPAddress string }
	}
	// newKey is the host key to place on a container that was just made.
	newKey *KeyPair
}

func (e *Engine) inspectHost(ctx context.Context, lab, host string) (dockerContainer, error) {
	out, err := e.docker.run(ctx, "container", "inspect", ContainerName(lab, host))
	if err != nil {
		return dockerContainer{}, err
	}
	var found []dockerContainer
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found) != 1 {
		return dockerContainer{}, fmt.Errorf("reading its container: unexpected answer: %w", err)
	}
	c := found[0]
	if c.Config.Labels[labelLab] != lab || c.Config.Labels[labelHost] != host {
		return dockerContainer{}, fmt.Errorf("a container %s exists and was not made by this lab", ContainerName(lab, host))
	}
	return c, nil
}

// container returns the host's container: the one that exists if it can become what the
// spec asks for, else a new one that takes over its host key.
func (e *Engine) container(ctx context.Context, spec HostSpec, address netip.Addr) (dockerContainer, error) {
	c, err := e.inspectHost(ctx, spec.Lab, spec.Name)
	if err != nil && !missing(err) {
		return dockerContainer{}, err
	}
	var key *KeyPair
	if err == nil {
		labels := c.Config.Labels
		if labels[labelShape] == spec.shape() && labels[labelAddress] == address.String() {
			return c, nil
		}
		fmt.Fprintf(e.progress, "lab: making host %s anew: its image, volumes or address changed\n", spec.Name)
		if key, err = e.readHostKey(ctx, spec.Lab, spec.Name); err != nil {
			return dockerContainer{}, err
		}
		if err := e.removeContainer(ctx, c.ID); err != nil {
			return dockerContainer{}, err
		}
	}
	if key == nil {
		made, err := GenerateKey()
		if err != nil {
			return dockerContainer{}, err
		}
		key = &made
	}
	return e.createHost(ctx, spec, address, key)
}

// createHost makes a container that is not started yet. A run that is interrupted before
// the key is on it leaves a container without a key, which placeFiles mends.
func (e *Engine) createHost(ctx context.Context, spec HostSpec, address netip.Addr, key *KeyPair) (dockerContainer, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return dockerContainer{}, fmt.Errorf("reading the capability bounding set: %w", err)
	}
	lacked, err := missingCapabilities(string(status))
	if err != nil {
		return dockerContainer{}, err
	}
	for _, path := range spec.Volumes {
		_, err := e.docker.run(ctx, "volume", "create", "--label", labelLab+"="+spec.Lab,
			"--label", labelHost+"="+spec.Name, volumeName(spec.Lab, spec.Name, path))
		if err != nil {
			return dockerContainer{}, err
		}
	}
	id, err := e.docker.run(ctx, createArgs(spec, address, e.registry(spec.Lab).path(), lacked)...)
	return dockerContainer{ID: id, newKey: key}, err
}

// placeFiles writes the lab's files and returns the host's public key.
func (e *Engine) placeFiles(ctx context.Context, spec HostSpec, c dockerContainer) (string, error) {
	key := c.newKey
	var public string
	if key == nil {
		have, err := e.readHostKey(ctx, spec.Lab, spec.Name)
		if err != nil {
			return "", err
		}
		if have != nil {
			public = have.Public
		} else if made, err := GenerateKey(); err != nil {
			return "", err
		} else {
			key = &made
		}
	}
	if key != nil {
		public = key.Public
	}
	archive, err := archiveOf(spec.files(key))
	if err != nil {
		return "", fmt.Errorf("packing its files: %w", err)
	}
	_, err = e.docker.runIn(ctx, bytes.NewReader(archive), "cp", "-", c.ID+":/")
	return public, err
}

// readFile reads a file of a host, running or not.
func (e *Engine) readFile(ctx context.Context, lab, host, path string) ([]byte, error) {
	var out bytes.Buffer
	if err := e.docker.stream(ctx, nil, &out, nil, "cp", ContainerName(lab, host)+":"+path, "-"); err != nil {
		return nil, err
	}
	return firstFile(out.String())
}

// readHostKey reads a host's key pair; a host without a whole one has none.
func (e *Engine) readHostKey(ctx context.Context, lab, host string) (*KeyPair, error) {
	private, err := e.readFile(ctx, lab, host, hostKeyFile)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return nil, nil
	}
	return &KeyPair{Private: string(private), Public: publicLine(signer.PublicKey())}, nil
}

// bringUp starts what does not run and mends the host's place in the network.
func (e *Engine) bringUp(ctx context.Context, spec HostSpec, c dockerContainer, address netip.Addr) error {
	network := NetworkName(spec.Lab)
	at, connected := c.NetworkSettings.Networks[network]
	n, err := e.inspectNetwork(ctx, network)
	if err != nil {
		return err
	}
	fresh := c.newKey != nil
	// A host that is down may still be told to join a network that is gone; the one made since has another id.
	joined := connected && (at.NetworkID == "" || at.NetworkID == n.ID)
	if !fresh && (!joined || c.State.Running && at.IPAddress != address.String()) {
		fmt.Fprintf(e.progress, "lab: connecting host %s to its network\n", spec.Name)
		if connected {
			if _, err := e.docker.run(ctx, "network", "disconnect", "-f", network, c.ID); err != nil {
				return err
			}
		}
		if _, err := e.docker.run(ctx, "network", "connect", "--ip", address.String(), "--alias", spec.Name, network, c.ID); err != nil {
			return err
		}
	}
	if !c.State.Running {
		fmt.Fprintf(e.progress, "lab: starting host %s at %s\n", spec.Name, address)
		_, err := e.docker.run(ctx, "start", c.ID)
		return err
	}
	_, err = e.docker.run(ctx, "exec", c.ID, guestDir+"/devices")
	return err
}

// settle waits until the host answers. One that ran all along and stays silent is rebooted
// once: something inside it, such as its network or sshd, is broken.
func (e *Engine) settle(ctx context.Context, spec HostSpec, c dockerContainer, address netip.Addr, public string) error {
	if c.State.Running {
		if waitForSSH(ctx, address, public, e.silence) == nil {
			return nil
		}
		fmt.Fprintf(e.progress, "lab: rebooting host %s: it runs, but does not answer\n", spec.Name)
		if _, err := e.docker.run(ctx, "restart", c.ID); err != nil {
			return err
		}
	}
	return waitForSSH(ctx, address, public, bootWait)
}
