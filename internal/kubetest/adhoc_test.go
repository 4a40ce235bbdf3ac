package kubetest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

func TestAdhoc(t *testing.T) {
	api := Start(t, Controllers, Scheduler)
	text, _ := os.ReadFile(api.Kubeconfig)
	room := `{"cpu":"8","memory":"32Gi","pods":"110"}`
	_, err := api.Create(t.Context(), []byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"ctl1","labels":{"node-role.kubernetes.io/control-plane":"","kubernetes.io/hostname":"ctl1"}},"status":{"capacity":`+room+`,"allocatable":`+room+`,"conditions":[{"type":"Ready","status":"True","reason":"T","lastHeartbeatTime":"2026-01-01T00:00:00Z","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/queue-x/kc", text, 0o600)
	dir := t.TempDir()
	started := false
	for end := time.Now().Add(9 * time.Minute); time.Now().Before(end); time.Sleep(300 * time.Millisecond) {
		if _, err := os.Stat("/tmp/queue-x/stop"); err == nil {
			return
		}
		if s, err := api.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/kueue-system/secrets/kueue-webhook-server-cert", nil); err == nil {
			data, _ := At(s, "data").(map[string]any)
			for k, v := range data {
				c, _ := base64.StdEncoding.DecodeString(fmt.Sprint(v))
				os.WriteFile(dir+"/"+k, c, 0o600)
			}
		}
		list, err := api.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/kueue-system/pods", nil)
		if err != nil {
			continue
		}
		for _, i := range list["items"].([]any) {
			p := i.(map[string]any)
			if At(p, "spec", "nodeName") == nil || At(p, "status", "phase") == "Running" {
				continue
			}
			if !started {
				cm, err := api.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/kueue-system/configmaps/kueue-manager-config", nil)
				if err != nil {
					t.Fatal(err)
				}
				var cfg map[string]any
				yaml.Unmarshal([]byte(fmt.Sprint(At(cm, "data", "controller_manager_config.yaml"))), &cfg)
				cfg["namespace"] = "kueue-system"
				cfg["webhook"] = map[string]any{"port": 9443, "certDir": dir}
				cfg["health"] = map[string]any{"healthProbeBindAddress": "127.0.0.1:0"}
				cfg["metrics"] = map[string]any{"bindAddress": "0"}
				cfg["leaderElection"] = map[string]any{"leaderElect": false}
				out, _ := json.Marshal(cfg)
				os.WriteFile(dir+"/config.yaml", out, 0o600)
				api.Run(t, "kueue", "kueue-system/kueue-controller-manager", "--config", dir+"/config.yaml", "--feature-gates", "VisibilityOnDemand=false")
				started = true
			}
			now := time.Now().UTC().Format(time.RFC3339)
			st := strings.NewReplacer("NOW", now).Replace(`{"status":{"phase":"Running","podIP":"192.0.2.2","podIPs":[{"ip":"192.0.2.2"}],"hostIP":"192.0.2.2","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"NOW"},{"type":"ContainersReady","status":"True","lastTransitionTime":"NOW"},{"type":"PodScheduled","status":"True","lastTransitionTime":"NOW"}]}}`)
			if _, err := api.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/kueue-system/pods/"+fmt.Sprint(At(p, "metadata", "name"))+"/status", []byte(st)); err != nil {
				t.Log(err)
			}
		}
	}
}
