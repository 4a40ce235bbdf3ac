package queues

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

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
	s.Soon(t, func() error { return s.Try(t.Context(), encoded(t, jobkind.JobSet.Probe())) })
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
