package labstep

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gpucluster/pulumi-gpucluster/internal/step"
)

func input(spec string, env map[string]string) *step.Input {
	return step.NewInput([]byte(spec), func(name string) string { return env[name] }, io.Discard)
}

// TestKey checks that the key is a pair, and another one each time.
func TestKey(t *testing.T) {
	var seen []string
	for range 2 {
		result, err := applyKey(context.Background(), input(`{"lab":"l"}`, nil))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(result)
		if err != nil {
			t.Fatal(err)
		}
		pair, err := ReadKey(string(text))
		if err != nil {
			t.Fatal(err)
		}
		signer, err := ssh.ParsePrivateKey([]byte(pair.Private))
		if err != nil {
			t.Fatal(err)
		}
		if public := string(ssh.MarshalAuthorizedKey(signer.PublicKey())); strings.Fields(public)[1] != strings.Fields(pair.Public)[1] {
			t.Errorf("the public key %q is not that of the private one", pair.Public)
		}
		seen = append(seen, pair.Public)
	}
	if seen[0] == seen[1] {
		t.Error("the same key was made twice")
	}
}

// TestHostSpec checks that the key, known only later, is put into the spec.
func TestHostSpec(t *testing.T) {
	in := input(`{"lab":"l","name":"h","image":"i","hardware":{}}`, map[string]string{EnvAuthorizedKey: "ssh-ed25519 AAAA"})
	spec, err := hostSpec(in)
	if err != nil || spec.Lab != "l" || spec.Name != "h" || spec.AuthorizedKey != "ssh-ed25519 AAAA" {
		t.Errorf("spec %+v, %v", spec, err)
	}
}

func TestReadResults(t *testing.T) {
	host, err := ReadHost(`{"name":"h","address":"192.0.2.1","hostKey":"ssh-ed25519 AAAA","instance":"i"}`)
	if err != nil || host.Address != "192.0.2.1" || host.Instance != "i" {
		t.Errorf("host %+v, %v", host, err)
	}
	if _, err := ReadHost("no"); err == nil {
		t.Error("a result that cannot be read is taken")
	}
	_, err = ReadKey(`{"private": canary`)
	if err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("error %v, want one without the text", err)
	}
}

// TestProbeOfAnUnknownHost checks that a host that was never recorded is
// unhealthy, without an engine being asked.
func TestProbeOfAnUnknownHost(t *testing.T) {
	for _, spec := range []string{`{"lab":"l","name":"h"}`, `{"lab":"l","name":"h","hardware":{"gpus":"as another release writes them"}}`} {
		err := probeHost(context.Background(), input(spec, nil))
		if err == nil || !strings.Contains(err.Error(), "h has no recorded state") {
			t.Errorf("%s: error %v", spec, err)
		}
	}
}
