// Package kubetest runs a real control plane of Kubernetes for tests: etcd and
// the API server as plain processes of this machine, and the controllers and the
// scheduler where a test asks for them.
//
// The usual path is [Start], then requests through the [API]; everything is gone
// when the test ends. There are no kubelets: a test makes nodes itself, and tells
// the API what becomes of their pods. The programs are those of the store that
// the lab's clusters use; where they have not been made, the test is skipped, or
// fails where labtest.RequireVariable says that it has to run.
package kubetest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/labtest"
)

// Part is what a control plane may have beside etcd and the API server.
type Part string

// Programs, and a record of who changes what, for [API.Changes].
const (
	Controllers Part = "kube-controller-manager"
	Scheduler   Part = "kube-scheduler"
	Record      Part = "record"
)

const (
	// startLimit is how long a control plane may take on a busy machine.
	startLimit = 2 * time.Minute
	adminToken = "admin-of-a-test"
)

// plane is a control plane that runs.
type plane struct {
	dir      string
	programs programs
	api      *API
	etcd     string
	// processes are all that were started, by name.
	processes map[string]*Process
}

// Start runs a control plane. It skips the test with -short.
func Start(t testing.TB, parts ...Part) *API {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a control plane; not in -short")
	}
	found, err := findPrograms()
	if err != nil {
		without(t, err)
	}
	p := &plane{dir: t.TempDir(), programs: found, processes: map[string]*Process{}}
	if err := p.writeKeys(); err != nil {
		t.Fatal(err)
	}
	p.startEtcd(t)
	p.startAPI(t, slices.Contains(parts, Record))
	for _, part := range parts {
		if part != Record {
			p.startPart(t, part)
		}
	}
	return p.api
}

// without ends a test that cannot run here.
func without(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(labtest.RequireVariable) == "required" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func (p *plane) file(name string) string { return filepath.Join(p.dir, name) }

// writeKeys makes the key that signs the tokens of service accounts, and the
// tokens of users. Both live as long as the test.
func (p *plane) writeKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	for name, content := range map[string][]byte{
		"accounts.key": text,
		"tokens.csv": []byte(adminToken + ",admin,admin,system:masters\n" +
			token(Controllers) + ",system:kube-controller-manager,controllers\n" + token(Scheduler) + ",system:kube-scheduler,scheduler\n"),
	} {
		if err := os.WriteFile(p.file(name), content, 0o600); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	return nil
}

func (p *plane) startEtcd(t testing.TB) {
	t.Helper()
	client, peer := "http://"+local(FreePort(t)), "http://"+local(FreePort(t))
	p.etcd = client
	p.run(t, p.programs.etcd, "etcd", "--data-dir", p.file("etcd"), "--unsafe-no-fsync", "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
}

func (p *plane) startAPI(t testing.TB, recorded bool) {
	t.Helper()
	port := FreePort(t)
	args := []string{
		"--etcd-servers", p.etcd, "--bind-address", "127.0.0.1", "--secure-port", strconv.Itoa(port), "--cert-dir", p.file("api"),
		"--token-auth-file", p.file("tokens.csv"), "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", p.file("accounts.key"), "--service-account-signing-key-file", p.file("accounts.key"),
		"--service-cluster-ip-range", "10.96.0.0/16",
		// Webhooks are asked at their endpoints: there is no kube-proxy. And nobody needs the server's own.
		"--enable-aggregator-routing", "--endpoint-reconciler-type", "none",
	}
	if recorded {
		if err := os.WriteFile(p.file("record.yaml"), []byte(recordPolicy), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--audit-policy-file", p.file("record.yaml"), "--audit-log-path", p.file(recordFile))
	}
	p.run(t, p.programs.kubernetes, "kube-apiserver", args...)
	p.api = &API{plane: p, address: local(port), certificate: p.file("api/apiserver.crt")}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	if err := p.api.waitReady(ctx); err != nil {
		t.Fatalf("the API server does not serve: %v\n%s", err, p.log("kube-apiserver"))
	}
	if err := p.api.writeKubeconfig(p.file("kubeconfig"), adminToken); err != nil {
		t.Fatal(err)
	}
	p.api.Kubeconfig = p.file("kubeconfig")
}

// token is that of a part, which has the rights that it has in any cluster.
func token(part Part) string { return string(part) + "-of-a-test" }

func (p *plane) startPart(t testing.TB, part Part) {
	t.Helper()
	kubeconfig := p.file(string(part) + ".kubeconfig")
	if err := p.api.writeKubeconfig(kubeconfig, token(part)); err != nil {
		t.Fatal(err)
	}
	args := []string{"--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port", strconv.Itoa(FreePort(t)),
		"--bind-address", "127.0.0.1", "--cert-dir", p.file(string(part))}
	if part == Controllers {
		// Nodes have no kubelets that would report; they stay as a test has made them.
		args = append(args, "--use-service-account-credentials", "--service-account-private-key-file", p.file("accounts.key"), "--root-ca-file", p.file("api/apiserver.crt"),
			"--node-monitor-grace-period", "24h")
	}
	p.run(t, p.programs.kubernetes, string(part), args...)
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// FreePort is one that was free a moment ago.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
