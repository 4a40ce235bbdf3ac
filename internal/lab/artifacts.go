package lab

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

// ArtifactsName is the name by which hosts of a lab find the server of images, binaries
// and charts. No host may bear it.
const ArtifactsName = "artifacts"

// ArtifactsPort is where that server listens.
const ArtifactsPort = 5000

// artifactsOffset is its address in the lab's subnet: the first one that no host gets.
const artifactsOffset = 2

// artifactsWait bounds how long the server may take to answer after it was started.
const artifactsWait = 20 * time.Second

// ArtifactsSpec asks for a lab's server of artifacts.
type ArtifactsSpec struct {
	// Lab is the lab's name; its network must exist.
	Lab string `json:"lab"`
	// Store is the folder that tools/artifacts made. Default: this machine's (artifacts.DefaultStore).
	Store string `json:"store,omitempty"`
}

// ArtifactsInfo is the server as it is. It is the same at each call as long as the lab is.
type ArtifactsInfo struct {
	// URL is where hosts of the lab, and only they, find it by name: http://artifacts:5000.
	URL string `json:"url"`
	// Address is its IPv4 address and port, which this machine reaches too.
	Address string `json:"address"`
}

// artifactsContainer is the name of the server's container. No host's name begins with an underscore.
func artifactsContainer(lab string) string { return ContainerName(lab, "_"+ArtifactsName) }

// EnsureArtifacts makes the container that serves a store to the hosts of a lab, or returns
// the one that serves it. It keeps nothing: one that is anything but right is made anew. It
// is removed with the lab's network. A store that is not there is a HintError.
func (e *Engine) EnsureArtifacts(ctx context.Context, spec ArtifactsSpec) (ArtifactsInfo, error) {
	if !namePattern.MatchString(spec.Lab) {
		return ArtifactsInfo{}, fmt.Errorf("serving artifacts: %q is not a lab name (a DNS label of at most 40 characters)", spec.Lab)
	}
	if spec.Store == "" {
		spec.Store = artifacts.DefaultStore()
	}
	store, err := filepath.Abs(spec.Store)
	if err != nil {
		return ArtifactsInfo{}, fmt.Errorf("serving artifacts: %w", err)
	}
	spec.Store = store
	info, err := e.ensureArtifacts(ctx, spec)
	if err != nil {
		return ArtifactsInfo{}, fmt.Errorf("serving artifacts: %w", err)
	}
	return info, nil
}

func (e *Engine) ensureArtifacts(ctx context.Context, spec ArtifactsSpec) (ArtifactsInfo, error) {
	unlock, err := e.state.lock(ctx, "artifacts-"+spec.Lab)
	if err != nil {
		return ArtifactsInfo{}, err
	}
	defer unlock()
	image, err := e.artifactsImage(ctx, spec.Store)
	if err != nil {
		return ArtifactsInfo{}, err
	}
	n, err := e.inspectNetwork(ctx, NetworkName(spec.Lab))
	if missing(err) {
		return ArtifactsInfo{}, fmt.Errorf("the lab %s has no network", spec.Lab)
	}
	if err != nil {
		return ArtifactsInfo{}, err
	}
	address := addToAddr(n.subnet().Addr(), artifactsOffset)
	info := ArtifactsInfo{URL: "http://" + net.JoinHostPort(ArtifactsName, strconv.Itoa(ArtifactsPort)), Address: artifactsAddress(address)}
	// Which network it is, too: one of the same name that was made anew has another id.
	shape := digest("1", image, spec.Store, address.String(), n.ID)
	have, err := e.docker.run(ctx, "container", "inspect", "--format", fmt.Sprintf("{{.State.Running}} {{index .Config.Labels %q}}", labelShape), artifactsContainer(spec.Lab))
	if err != nil && !missing(err) {
		return ArtifactsInfo{}, err
	}
	if have == "true "+shape && waitForArtifacts(ctx, address, 2*time.Second) == nil {
		return info, nil
	}
	if err := e.removeContainer(ctx, artifactsContainer(spec.Lab)); err != nil {
		return ArtifactsInfo{}, err
	}
	fmt.Fprintf(e.progress, "lab: serving %s to the hosts at %s\n", spec.Store, info.URL)
	if _, err := e.docker.run(ctx, artifactsArgs(spec, image, shape, address)...); err != nil {
		return ArtifactsInfo{}, err
	}
	return info, waitForArtifacts(ctx, address, artifactsWait)
}

// artifactsArgs are the arguments of `docker run`. The server needs nothing of a container's
// privileges, and of the machine only to read the store.
func artifactsArgs(spec ArtifactsSpec, image, shape string, address netip.Addr) []string {
	return []string{
		"run", "-d", "--pull", "never",
		"--name", artifactsContainer(spec.Lab),
		"--hostname", ArtifactsName,
		"--network", NetworkName(spec.Lab),
		"--network-alias", ArtifactsName,
		"--ip", address.String(),
		"--label", labelLab + "=" + spec.Lab,
		"--label", labelShape + "=" + shape,
		"--restart", "unless-stopped",
		"--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--mount", "type=bind,src=" + spec.Store + ",dst=/store,readonly",
		image,
		"serve", "--store", "/store", "--address", ":" + strconv.Itoa(ArtifactsPort),
	}
}

// artifactsImage makes the image with nothing but the program that the store has for this.
func (e *Engine) artifactsImage(ctx context.Context, store string) (string, error) {
	program, err := os.ReadFile(filepath.Join(store, artifacts.Current, artifacts.ServerFile))
	if err != nil {
		return "", &HintError{Err: fmt.Errorf("the store of artifacts is not there: %w", err), Hint: "make tools ENV=<environment> makes it, as root"}
	}
	tag := fmt.Sprintf("gpucluster-lab-artifacts:%.6x", sha256.Sum256(program))
	have, err := e.hasImage(ctx, tag)
	if err != nil || have {
		return tag, err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: ArtifactsName, Mode: 0o755, Size: int64(len(program))}); err != nil {
		return "", err
	}
	if _, err := w.Write(program); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	_, err = e.docker.runIn(ctx, &archive, "import", "--change", `ENTRYPOINT ["/`+ArtifactsName+`"]`, "-", tag)
	return tag, err
}

// ProbeArtifacts tells whether the lab's server of artifacts answers. It changes nothing.
func (e *Engine) ProbeArtifacts(ctx context.Context, lab string) error {
	out, err := e.docker.run(ctx, "container", "inspect", "--format", "{{json .NetworkSettings.Networks}}", artifactsContainer(lab))
	if missing(err) {
		return fmt.Errorf("the lab %s has no server of artifacts", lab)
	}
	if err != nil {
		return fmt.Errorf("probing the lab's artifacts: %w", err)
	}
	var networks map[string]struct{ IPAddress string }
	if err := json.Unmarshal([]byte(out), &networks); err != nil {
		return fmt.Errorf("probing the lab's artifacts: %w", err)
	}
	address, err := netip.ParseAddr(networks[NetworkName(lab)].IPAddress)
	if err != nil {
		return errors.New("the lab's server of artifacts does not run")
	}
	return waitForArtifacts(ctx, address, 0)
}

func artifactsAddress(address netip.Addr) string {
	return netip.AddrPortFrom(address, ArtifactsPort).String()
}

// waitForArtifacts asks until the server answers or the time is up; once at least.
func waitForArtifacts(ctx context.Context, address netip.Addr, limit time.Duration) error {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for begin := time.Now(); ; {
		err := askArtifacts(ctx, client, "http://"+artifactsAddress(address)+"/healthz")
		if err == nil || ctx.Err() != nil {
			return err
		}
		if time.Since(begin) >= limit {
			return fmt.Errorf("the lab's server of artifacts does not answer: %w", err)
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

func askArtifacts(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", response.Status)
	}
	return nil
}
