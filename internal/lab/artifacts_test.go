package lab

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/artifacts"
)

func TestArtifactsArgs(t *testing.T) {
	args := artifactsArgs(ArtifactsSpec{Lab: "demo", Store: "/store/of/machine"}, "gpucluster-lab-artifacts:x", "shape", netip.MustParseAddr("10.0.0.2"))
	golden(t, "artifacts-args.txt", strings.Join(args, "\n")+"\n")
}

func TestNoHostIsCalledAsTheServerOfArtifacts(t *testing.T) {
	spec := exampleSpec()
	spec.Name = ArtifactsName
	if err := spec.validate(); err == nil || !strings.Contains(err.Error(), "own server of artifacts") {
		t.Errorf("it says %v", err)
	}
	if namePattern.MatchString("_" + ArtifactsName) {
		t.Error("a host can have the name of the server's container")
	}
}

func TestArtifactsNeedAStore(t *testing.T) {
	e := &Engine{state: stateDir(t.TempDir())}
	_, err := e.EnsureArtifacts(t.Context(), ArtifactsSpec{Lab: "demo", Store: t.TempDir()})
	var hint *HintError
	if !errors.As(err, &hint) || !strings.Contains(hint.Hint, "make tools") {
		t.Errorf("it says %v", err)
	}
}

// machineStore is this machine's store, or none: then the test is skipped, or fails where
// all of the lab has to run.
func machineStore(t *testing.T) string {
	t.Helper()
	store := artifacts.DefaultStore()
	if _, err := os.Stat(filepath.Join(store, artifacts.Current)); err != nil {
		if os.Getenv("GPUCLUSTER_E2E") == "required" {
			t.Fatalf("there are no artifacts: %v", err)
		}
		t.Skipf("needs the artifacts of this machine, which tools/install.sh --test makes: %v", err)
	}
	return store
}

// TestHostsGetArtifacts lets a host of a lab ask for an image and a binary, and breaks the
// server from outside.
func TestHostsGetArtifacts(t *testing.T) {
	e := realEngine(t)
	spec := ArtifactsSpec{Store: machineStore(t)}
	image, key := testImage(t, e, "24.11"), testKey(t)
	spec.Lab = testLab(t, e, "artifacts")
	if err := e.ProbeArtifacts(t.Context(), spec.Lab); err == nil || !strings.Contains(err.Error(), "has no server of artifacts") {
		t.Errorf("before it is made the probe says %v", err)
	}
	ensure := func() ArtifactsInfo {
		t.Helper()
		info, err := e.EnsureArtifacts(t.Context(), spec)
		if err == nil {
			err = e.ProbeArtifacts(t.Context(), spec.Lab)
		}
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	id := func() string {
		t.Helper()
		out, err := e.docker.run(t.Context(), "inspect", "--format", "{{.Id}}", artifactsContainer(spec.Lab))
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	info := ensure()
	was := id()
	if again := ensure(); again != info || id() != was {
		t.Errorf("asked for again it is %+v, was %+v", again, info)
	}
	h := mustEnsure(t, e, HostSpec{Lab: spec.Lab, Name: "n1", Image: image, AuthorizedKey: key.Public})
	if strings.HasPrefix(info.Address, h.Address+":") {
		t.Errorf("the host and the server both are at %s", h.Address)
	}
	binaries := info.URL + "/binaries/" + artifacts.KubernetesVersion
	for _, c := range []struct{ command, want string }{
		{"curl -fsS " + info.URL + "/v2/kube-apiserver/manifests/" + artifacts.KubernetesVersion + " | grep -c schemaVersion", "1"},
		{"cd /tmp && curl -fsSO " + binaries + "/kubelet && curl -fsS " + binaries + "/SHA256SUMS | sha256sum -c --ignore-missing", "kubelet: OK"},
		{"chmod +x /tmp/kubelet && /tmp/kubelet --version", "Kubernetes " + artifacts.KubernetesVersion},
	} {
		if got := mustRun(t, h, key, c.command); got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
	container := artifactsContainer(spec.Lab)
	for name, args := range map[string][]string{
		"killed":       {"kill", container},
		"removed":      {"rm", "-f", container},
		"disconnected": {"network", "disconnect", NetworkName(spec.Lab), container},
	} {
		if _, err := e.docker.run(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
		if err := e.ProbeArtifacts(t.Context(), spec.Lab); err == nil {
			t.Errorf("a server that is %s passes the probe", name)
		}
		if mended := ensure(); mended != info {
			t.Errorf("%s and mended it is %+v, was %+v", name, mended, info)
		}
	}
}

// TestArtifactsGoWithoutTheirStore removes the store under a running server. testLab checks
// that removing the lab leaves nothing all the same.
func TestArtifactsGoWithoutTheirStore(t *testing.T) {
	e := realEngine(t)
	from := filepath.Join(machineStore(t), artifacts.Current)
	spec := ArtifactsSpec{Lab: testLab(t, e, "storeless"), Store: filepath.Join(t.TempDir(), "store")}
	fill := func() {
		t.Helper()
		current := filepath.Join(spec.Store, artifacts.Current)
		if err := os.MkdirAll(filepath.Join(current, artifacts.ImagesFolder), 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{artifacts.ServerFile, filepath.Join(artifacts.ImagesFolder, "index.json")} {
			if out, err := exec.Command("cp", filepath.Join(from, name), filepath.Join(current, name)).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
		}
	}
	empty := func() {
		t.Helper()
		if err := os.RemoveAll(spec.Store); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	if _, err := e.EnsureArtifacts(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	empty()
	if err := e.ProbeArtifacts(t.Context(), spec.Lab); err == nil {
		t.Error("a server without a store passes the probe")
	}
	if _, err := e.EnsureArtifacts(t.Context(), spec); err == nil {
		t.Error("a store that is gone is served")
	}
	// One that was made again at the same place is another folder.
	fill()
	if _, err := e.EnsureArtifacts(t.Context(), spec); err != nil {
		t.Error(err)
	}
	empty()
	if err := e.RemoveNetwork(context.WithoutCancel(t.Context()), spec.Lab); err != nil {
		t.Error(err)
	}
}
