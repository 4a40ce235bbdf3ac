package queues

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// manager is a real Kueue beside a control plane.
type manager struct {
	api  *kubetest.API
	dir  string
	port int
	*kubetest.Process
}

// installKueue makes all that Kueue has in a cluster but its pod, with webhooks
// that see what those of its chart see.
func installKueue(t testing.TB, api *kubetest.API) *manager {
	t.Helper()
	m := &manager{api: api, dir: t.TempDir(), port: kubetest.FreePort(t)}
	manifests, err := api.Kubectl(t, "kustomize", filepath.Join(kueueModule(t), "config", "default"))
	if err != nil {
		t.Fatal(err)
	}
	scoped := scopedWebhooks(t)
	for decoder := yaml.NewDecoder(bytes.NewReader(manifests)); ; {
		var object map[string]any
		if err := decoder.Decode(&object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch object["kind"] {
		case "Deployment", "APIService":
			continue // it runs here, and serves nothing of the API
		case "Service":
			delete(object["spec"].(map[string]any), "selector")
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			for _, hook := range object["webhooks"].([]any) {
				if hook := hook.(map[string]any); scoped[hook["name"].(string)] {
					hook["namespaceSelector"] = asMap(t, Config(Cluster{}).ManagedJobsNamespaceSelector)
				}
			}
		}
		createJSON(t, api, object)
	}
	serveWebhooks(t, api, ManagerNamespace, "kueue-webhook-service", m.port)
	go placeCertificate(t, api, ManagerNamespace, "kueue-webhook-server-cert", m.dir)
	return m
}

// scopedWebhooks are those of Kueue's webhooks to which its chart gives the
// namespaces of our configuration, by name.
func scopedWebhooks(t testing.TB) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kueueModule(t), "charts", "kueue", "templates", "webhook", "manifests.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	scoped := map[string]bool{}
	for _, hook := range strings.Split(string(text), "- admissionReviewVersions:")[1:] {
		if _, after, ok := strings.Cut(hook, "\n    name: "); ok && strings.Contains(hook, "$managerConfig.managedJobsNamespaceSelector") {
			name, _, _ := strings.Cut(after, "\n")
			scoped[strings.TrimSpace(name)] = true
		}
	}
	return scoped
}

// serveWebhooks leads a service to a port of this machine.
func serveWebhooks(t testing.TB, api *kubetest.API, namespace, service string, port int) {
	t.Helper()
	createJSON(t, api, map[string]any{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
		"metadata": map[string]any{"name": service, "namespace": namespace,
			"labels": map[string]any{"kubernetes.io/service-name": service}},
		"endpoints": []any{map[string]any{"addresses": []any{ownAddress(t)}}},
		"ports":     []any{map[string]any{"port": port}},
	})
}

// start runs Kueue with our configuration and its own service account, webhooks
// and certificates, as in a cluster, and waits until its webhooks answer.
func (m *manager) start(t testing.TB, c Cluster) {
	t.Helper()
	config := asMap(t, Config(c))
	config["namespace"] = ManagerNamespace
	config["webhook"] = map[string]any{"port": m.port, "certDir": m.dir}
	config["health"] = map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", kubetest.FreePort(t))}
	config["metrics"] = map[string]any{"bindAddress": "0"}
	config["leaderElection"] = map[string]any{"leaderElect": false}
	file := filepath.Join(m.dir, "config.yaml")
	if err := os.WriteFile(file, encoded(t, config), 0o600); err != nil {
		t.Fatal(err)
	}
	m.Process = m.api.Run(t, "kueue", ManagerNamespace+"/kueue-controller-manager", "--config", file, "--feature-gates", "VisibilityOnDemand=false")
	flavor := encoded(t, asMap(t, Probe()))
	m.api.Soon(t, func() error { return m.api.Try(t.Context(), flavor) })
}

// placeCertificate does what a kubelet does: the secret of the webhooks, which
// their server fills itself, becomes files.
func placeCertificate(t testing.TB, api *kubetest.API, namespace, name, dir string) {
	for ; t.Context().Err() == nil; time.Sleep(200 * time.Millisecond) {
		secret, err := api.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/"+namespace+"/secrets/"+name, nil)
		if err != nil {
			continue
		}
		data, _ := kubetest.At(secret, "data").(map[string]any)
		for name, value := range data {
			content, err := base64.StdEncoding.DecodeString(fmt.Sprint(value))
			if old, _ := os.ReadFile(filepath.Join(dir, name)); err == nil && !bytes.Equal(old, content) {
				_ = os.WriteFile(filepath.Join(dir, name), content, 0o600)
			}
		}
	}
}

// ownAddress is one of this machine that is not the loopback: an EndpointSlice
// takes no other.
func ownAddress(t testing.TB) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && ip.IP.IsGlobalUnicast() {
			return ip.IP.String()
		}
	}
	t.Skip("needs an address of this machine that is not the loopback")
	return ""
}

func asMap(t testing.TB, value any) map[string]any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func createJSON(t testing.TB, api *kubetest.API, object map[string]any) {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := api.Create(t.Context(), text); err != nil {
		t.Fatalf("%v %v: %v", object["kind"], kubetest.At(object, "metadata", "name"), err)
	}
}

func encoded(t testing.TB, object map[string]any) []byte {
	t.Helper()
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
