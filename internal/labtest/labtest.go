// Package labtest makes lab hosts for tests that need servers to work on.
//
// A test asks for hosts with [New] and gets them with addresses and a key that
// logs in; they are gone when the test ends. Where labs cannot run, the test is
// skipped, or fails with [RequireVariable].
package labtest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gruntwork-io/terratest/modules/random"

	"github.com/gpucluster/pulumi-gpucluster/internal/lab"
	"github.com/gpucluster/pulumi-gpucluster/internal/remote"
)

// RequireVariable set to "required" makes a test fail that would be skipped
// because labs cannot run here, for machines on which they have to.
const RequireVariable = "GPUCLUSTER_E2E"

// Engine returns the engine that makes lab hosts. It skips the test where there
// can be none.
func Engine(t testing.TB) *lab.Engine {
	t.Helper()
	without := t.Skip
	if os.Getenv(RequireVariable) == "required" {
		without = t.Fatal
	}
	if os.Geteuid() != 0 {
		without("needs root: lab hosts are containers with their own systemd")
	}
	if _, err := exec.LookPath("docker"); err != nil {
		without("needs Docker; make tools installs it")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	engine, err := lab.EnsureEngine(ctx, os.Stderr)
	if err != nil {
		without("needs a Docker engine: ", err)
	}
	return engine
}

// Name makes a name for a lab that no other run has.
func Name(prefix string) string { return prefix + "-" + strings.ToLower(random.UniqueID()) }

// Lab is a network with hosts of one image.
type Lab struct {
	Engine *lab.Engine
	// Key logs in to each host.
	Key lab.KeyPair
	// Hosts in the order in which they were asked for.
	Hosts []lab.HostInfo
}

// New makes a lab. Of each host its name says enough; the lab, the image and
// the key are filled in. It skips the test with -short.
func New(t testing.TB, prefix string, image lab.ImageSpec, hosts ...lab.HostSpec) *Lab {
	t.Helper()
	if testing.Short() {
		t.Skip("needs lab hosts; not in -short")
	}
	l, name := &Lab{Engine: Engine(t)}, Name(prefix)
	built, err := l.Engine.EnsureImage(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := l.Engine.RemoveNetwork(ctx, name); err != nil {
			t.Error(err)
		}
	})
	if _, err := l.Engine.EnsureNetwork(t.Context(), lab.NetworkSpec{Lab: name}); err != nil {
		t.Fatal(err)
	}
	if l.Key, err = lab.GenerateKey(); err != nil {
		t.Fatal(err)
	}
	for _, spec := range hosts {
		spec.Lab, spec.Image, spec.AuthorizedKey = name, built.Image, l.Key.Public
		made, err := l.Engine.EnsureHost(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		l.Hosts = append(l.Hosts, made)
	}
	return l
}

// Target is how a host is reached as root.
func Target(h lab.HostInfo) remote.Target {
	return remote.Target{Name: h.Name, Address: h.Address, Port: h.Port, User: h.User, HostKeys: []string{h.HostKey}}
}
