package queues

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/jobset"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// startJobSet runs the real JobSet beside a control plane, with its own service
// account and webhooks, whose certificate is the test's.
func startJobSet(t testing.TB, api *kubetest.API) {
	t.Helper()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	module := filepath.Join(strings.TrimSpace(string(cache)), "sigs.k8s.io", "jobset@v"+jobset.ChartVersion)
	if _, err := os.Stat(module); err != nil {
		t.Skipf("needs JobSet's sources: go mod download sigs.k8s.io/jobset@v%s", jobset.ChartVersion)
	}
	manifests, err := api.Kubectl(t, "kustomize", filepath.Join(module, "config", "default"))
	if err != nil {
		t.Fatal(err)
	}
	dir, port := t.TempDir(), kubetest.FreePort(t)
	certificate := writeCertificate(t, dir, "jobset-webhook-service."+jobset.Namespace+".svc")
	for decoder := yaml.NewDecoder(bytes.NewReader(manifests)); ; {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch object["kind"] {
		case "Deployment":
			continue // it runs here
		case "Service":
			delete(object["spec"].(map[string]any), "selector")
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			for _, hook := range object["webhooks"].([]any) {
				kubetest.At(hook.(map[string]any), "clientConfig").(map[string]any)["caBundle"] = base64.StdEncoding.EncodeToString(certificate)
			}
		}
		createJSON(t, api, object)
	}
	serveWebhooks(t, api, jobset.Namespace, "jobset-webhook-service", port)
	config := filepath.Join(dir, "config.yaml")
	text := encoded(t, map[string]any{
		"apiVersion": "config.jobset.x-k8s.io/v1alpha1", "kind": "Configuration",
		"leaderElection": map[string]any{"leaderElect": false}, "internalCertManagement": map[string]any{"enable": false},
		"webhook": map[string]any{"port": port, "certDir": dir}, "metrics": map[string]any{"bindAddress": "0"},
		"health": map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", kubetest.FreePort(t))},
	})
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	api.Run(t, "jobset", jobset.Namespace+"/jobset-controller-manager", "--config", config)
}

// writeCertificate writes one that signs itself, with its key, as a webhook
// server wants them, and returns it.
func writeCertificate(t testing.TB, dir, name string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for file, text := range map[string][]byte{"tls.crt": certificate, "tls.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
		if err := os.WriteFile(filepath.Join(dir, file), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate
}

// jobSetsStartWhole checks that a set of two kinds of jobs is one workload: all
// its pods run or none is there. Of 16 GPUs each set wants 12. It is also case
// K59: the jobs within a set, which name no queue, are not held on their own.
func jobSetsStartWhole(t *testing.T, s *site) {
	const team = "sets"
	submit := func(name string) {
		part := func(part string, pods int) map[string]any {
			return map[string]any{"name": part, "replicas": 1, "template": map[string]any{"spec": map[string]any{
				"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": s.template(team, 4, nil)}}}
		}
		object := encoded(t, map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": map[string]any{"name": name, "namespace": team},
			"spec": map[string]any{"replicatedJobs": []any{part("leader", 1), part("workers", 2)}}})
		if _, err := s.as(team).Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	// What an installation is asked by: its webhooks answer some moments after it runs.
	s.Soon(t, func() error { return s.Try(t.Context(), encoded(t, jobset.Probe())) })
	pods := func(name string) string {
		return "/api/v1/namespaces/" + team + "/pods?labelSelector=jobset.sigs.k8s.io/jobset-name=" + name
	}
	whole := func(name string) []map[string]any {
		list := s.Eventually(t, pods(name), func(list map[string]any) bool {
			at := 0
			for _, pod := range items(list) {
				if kubetest.At(pod, "status", "phase") == "Running" {
					at++
				}
			}
			return at == 3
		})
		return items(list)
	}
	submit("first")
	first := whole("first")
	s.used(t, team, 12)
	submit("second")
	s.Eventually(t, "/apis/"+kueueAPI+"/namespaces/"+team+"/workloads", func(list map[string]any) bool {
		return len(items(list)) == 2 && strings.Contains(string(encoded(t, list)), "insufficient unused quota for nvidia.com/gpu in flavor p100")
	})
	if held := items(s.get(t, pods("second"))); len(held) > 0 {
		t.Errorf("a set that waits has %d pods", len(held))
	}
	s.used(t, team, 12)
	for _, pod := range first {
		path := "/api/v1/namespaces/" + team + "/pods/" + kubetest.At(pod, "metadata", "name").(string) + "/status"
		if _, err := s.Do(t.Context(), http.MethodPatch, path, []byte(`{"status":{"phase":"Succeeded"}}`)); err != nil {
			t.Fatal(err)
		}
	}
	whole("second")
	s.used(t, team, 12)
}
