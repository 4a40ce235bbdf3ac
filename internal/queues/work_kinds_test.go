package queues

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gpucluster/pulumi-gpucluster/internal/jobkind"
	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// started runs the real controller of a kind of jobs beside a control plane, with
// its own service account and webhooks, whose certificate is the test's. Group is
// that of its configuration.
func started(k jobkind.Kind, group string) func(testing.TB, *kubetest.API) {
	return func(t testing.TB, api *kubetest.API) {
		t.Helper()
		cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		module := filepath.Join(strings.TrimSpace(string(cache)), "sigs.k8s.io", k.Chart+"@v"+k.Version)
		if _, err := os.Stat(module); err != nil {
			t.Skipf("needs the sources of %s: go mod download sigs.k8s.io/%s@v%s", k.Name, k.Chart, k.Version)
		}
		manifests, err := api.Kubectl(t, "kustomize", filepath.Join(module, "config", "default"))
		if err != nil {
			t.Fatal(err)
		}
		dir, port, service := t.TempDir(), kubetest.FreePort(t), k.Chart+"-webhook-service"
		certificate := writeCertificate(t, dir, service+"."+k.Namespace+".svc")
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
		serveWebhooks(t, api, k.Namespace, service, port)
		config := filepath.Join(dir, "config.yaml")
		text := encoded(t, map[string]any{
			"apiVersion": group + "/v1alpha1", "kind": "Configuration",
			"leaderElection": map[string]any{"leaderElect": false}, "internalCertManagement": map[string]any{"enable": false},
			"webhook": map[string]any{"port": port, "certDir": dir}, "metrics": map[string]any{"bindAddress": "0"},
			"health": map[string]any{"healthProbeBindAddress": fmt.Sprintf("127.0.0.1:%d", kubetest.FreePort(t))},
		})
		if err := os.WriteFile(config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		api.Run(t, k.Chart, k.Namespace+"/"+k.Chart+"-controller-manager", "--config", config)
	}
}
