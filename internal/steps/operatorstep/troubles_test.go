package operatorstep

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/gpucluster/pulumi-gpucluster/internal/kubetest"
)

// caseK52 has a driver that cannot start on a host's kernel, of which only the
// kubelet's events tell: who waits for the operator's work is told.
func caseK52(t *testing.T, api *kubetest.API, kubeconfig string) {
	const why = `error mounting "/sys/devices/system/memory/auto_online_blocks": no such file or directory`
	for _, object := range []string{
		"{apiVersion: v1, kind: Namespace, metadata: {name: drivers}}",
		"{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: drivers, name: default}}",
		"{apiVersion: v1, kind: Pod, metadata: {namespace: drivers, name: driver}, spec: {nodeName: gpu1, automountServiceAccountToken: false, containers: [{name: c, image: i}]}}",
		"{apiVersion: v1, kind: Event, metadata: {namespace: drivers, name: e}, type: Warning, reason: Failed, message: '" + why + "', involvedObject: {kind: Pod, namespace: drivers, name: driver}}",
	} {
		if _, err := api.Create(t.Context(), []byte(object)); err != nil {
			t.Fatal(err)
		}
	}
	in, _ := input(t, ReadySpec{Statuses: []Status{{"/apis/example.org/v1/things/none", "Thing"}}, Namespaces: []string{"drivers", "none"}, Limit: "1ns"}, kubeconfig, "")
	if _, err := ready(t.Context(), in); err == nil || !strings.HasPrefix(err.Error(), "waiting for Thing") || !strings.HasSuffix(err.Error(), "\ndrivers/driver on gpu1 is Pending: Failed: "+why) {
		t.Errorf("got %v", err)
	}
}

// caseK56 has an API server that hears nothing from a webhook, as behind a firewall,
// and one whose webhook is not there yet: only the first is a matter of the network.
func caseK56(t *testing.T, api *kubetest.API, kubeconfig string) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for name, c := range map[string]struct {
		address string
		blocked bool
	}{
		"hung":   {silent.Addr().String(), true},
		"absent": {fmt.Sprintf("127.0.0.1:%d", kubetest.FreePort(t)), false},
	} {
		webhook := fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: %[1]s}, webhooks: [{name: %[1]s.example.org,
			clientConfig: {url: "https://%[2]s/"}, timeoutSeconds: 1, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Fail,
			objectSelector: {matchLabels: {to: %[1]s}}, rules: [{apiGroups: [example.org], apiVersions: [v1], operations: [CREATE], resources: [things]}]}]}`, name, c.address)
		if _, err := api.Create(t.Context(), []byte(webhook)); err != nil {
			t.Fatal(err)
		}
		thing := json.RawMessage(`{"apiVersion":"example.org/v1","kind":"Thing","metadata":{"name":"w","labels":{"to":"` + name + `"}}}`)
		api.Soon(t, func() error { // until the server knows the webhook
			if api.Try(t.Context(), thing) == nil {
				return fmt.Errorf("%s is not asked", name)
			}
			return nil
		})
		in, _ := input(t, ReadySpec{Admitted: []Attempt{{"/apis/example.org/v1/things", thing}}, Limit: "1ns"}, kubeconfig, "")
		_, err := ready(t.Context(), in)
		if err == nil || !strings.Contains(err.Error(), `failed calling webhook "`+name+`.example.org"`) ||
			strings.Contains(err.Error(), "a firewall may block the port of this webhook's pods, such as 9443") != c.blocked {
			t.Errorf("%s: %v", name, err)
		}
	}
}
